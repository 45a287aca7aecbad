"""How explanations are made: histories are followed once more, and the policy is asked what it expected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, condition_on_answer
from seqclass._utils.frames import plain_data
from seqclass._utils.text import short_repr
from seqclass.agent._case import Feature, Question, Questions
from seqclass.agent.agent import (
    Agent,
    acquire_encoded,
    column_categories,
    encode_rows,
    feature_name,
    outcome_labels,
    outcomes_at_start,
    question_of_marks,
    require_columns,
    to_numbers,
    with_all_columns,
)
from seqclass.agent.components import Component, Likeness, component
from seqclass.agent.explanation import Explanation, ExplanationStep, _number
from seqclass.agent.record import EncodedRows
from seqclass.costs import full_price_steps
from seqclass.pomdp import DECIDE
from seqclass.pomdp.account import prices_without_visits
from seqclass.pomdp.acquisition import Acquisition


def explain(agent: Agent, X: Any, feature_names: Sequence[str] | Mapping[int, str] | None = None) -> list[Explanation]:
    """Explain the decisions of a fitted classifier; see `SequentialClassifier.explain`."""
    rows = _as_rows(agent, X)
    encoded = encode_rows(agent, rows)
    acquired = acquire_encoded(agent, encoded, agent.known, record_beliefs=True, record_expected=True)
    require_columns(agent, X, acquired)
    # instances that share a history share its expected savings
    tell = _Teller(agent, rows, encoded, acquired, feature_names)
    return [tell(i, int(leaf)) for i, leaf in enumerate(acquired.leaf)]


class _Teller:
    """Puts the explanation of each instance together."""

    def __init__(self, agent: Agent, rows: Any, codes: EncodedRows, acquired: Acquisition, names: Any) -> None:
        self.agent, self.numbers, self.acquired = agent, to_numbers(agent, rows), acquired
        assert acquired.leaf_beliefs is not None  # they were recorded
        assert acquired.leaf_expected is not None
        self.names, self.beliefs, self.expected = names, acquired.leaf_beliefs, acquired.leaf_expected
        self.known = outcomes_at_start(agent, codes)
        self.questions = Questions(agent, agent.problem, names)
        self.path = acquired.leaf_path
        self.in_full: BoolArray | None = None
        if (problem := agent.problem).visits is not None and problem.groups is not None:
            question, surcharges = acquired.leaf_question, problem.full_prices - problem.prices
            charged = (question >= 0) & ((acquired.leaf_outcome >= 0) | agent.charge_missing)
            self.in_full = full_price_steps(question, charged, acquired.leaf_visit, problem.groups, surcharges)
        self.classes = tuple(agent.classes.tolist())
        self.labels: dict[tuple[int, bool], list[str]] = {}
        self.few: dict[int, set[float]] = {}
        self.components: dict[int, Component] = {}

    def __call__(self, row: int, leaf: int) -> Explanation:
        agent, known = self.agent, self.beliefs
        n_asked = int((self.path[leaf] >= 0).sum())
        beliefs = [tuple(p.tolist()) for p in known[leaf, : n_asked + 1]]
        steps = tuple(self._step(row, leaf, k, beliefs[k], beliefs[k + 1]) for k in range(n_asked))
        decisions = agent.decisions.tolist()
        costs = (known[leaf, n_asked] @ agent.problem.decision_costs).tolist()
        return Explanation(
            classes=self.classes,
            prior=beliefs[0],
            posterior=beliefs[-1],
            steps=steps,
            not_asked=self._question_not_asked(leaf, n_asked),
            decision=decisions[self.acquired.leaf_decision[leaf]],
            decision_costs=dict(zip(decisions, costs)),
            paid=float(sum(step.paid + step.visit_price for step in steps)),
            likeness=self._likeness(row, leaf, n_asked, known[leaf, n_asked]),
            unit=agent.unit,
            known=self._values_at_start(row),
        )

    def _values_at_start(self, row: int) -> dict[str, Any]:
        """What is known of a case before the first question, by name; of a question with marks by its columns."""
        names, cells, of = self.names, dict[str, Any](), question_of_marks(self.agent)
        for column in self.agent.support[self.agent.known].tolist():
            unasked = isinstance(names, Mapping) and column not in names
            name, value = feature_name(self.agent, column, None if unasked else names), self._cell(row, column)
            if value == value:
                question = of.get(str(feature_name(self.agent, column)))
                (cells if question is None else cells.setdefault(question, {}))[name] = value
        return cells

    def _likeness(self, row: int, leaf: int, n_asked: int, belief: FloatArray) -> Likeness | None:
        """The component that those of a history are most like, where classes have several."""
        agent, problem = self.agent, self.agent.problem
        kinds = agent.model._kinds()
        if kinds is None or len(kinds.weights) == len(agent.classes) or not n_asked:
            return None
        seen = [*zip(agent.known.tolist(), self.known[row].tolist())]
        for k in range(n_asked):
            question, shown = int(self.acquired.leaf_question[leaf, k]), self.acquired.leaf_outcome[leaf, k : k + 1]
            bundle = problem.structure.bundle(question)
            outcomes = shown if bundle is None else bundle.decode(shown)[0]
            seen += zip(problem.structure.members(question).tolist(), outcomes.tolist())
        state, member = kinds.weights[None], np.eye(len(agent.classes))[kinds.classes]
        for feature, outcome in seen:
            if outcome >= 0:
                state = condition_on_answer(state, kinds.tables[feature, [outcome]], kinds.classes, member)
        share = state[0] * belief[kinds.classes]
        hidden = int(share.argmax())
        if hidden not in self.components:
            self.components[hidden] = component(agent, kinds, hidden, names=self.names)
        return Likeness(self.components[hidden], float(share[hidden]))

    def _step(
        self, row: int, leaf: int, k: int, before: tuple[float, ...], after: tuple[float, ...]
    ) -> ExplanationStep:
        agent, expected = self.agent, self.expected
        features = self.questions.features(int(self.acquired.leaf_question[leaf, k]))
        outcome, price = int(self.acquired.leaf_outcome[leaf, k]), self._price(leaf, k)
        seen, saving = outcome >= 0, float(expected.saving[leaf, k])
        gone = len(features) == 1 and outcome == agent.coder.missing_code[features[0].column]
        visits = None if self.acquired.leaf_visit is None else self.acquired.leaf_visit[leaf]
        visit = None if visits is None else int(visits[k])
        begins = visits is not None and (k == 0 or visits[k] != visits[k - 1])
        return ExplanationStep(
            name=self.questions.name(int(self.acquired.leaf_question[leaf, k])),
            column=features[0].column,
            value=self._value(row, features) if seen and not gone else None,
            outcome=outcome,
            label=self._labels(row, features[0].column)[outcome] if seen and len(features) == 1 else None,
            price=price,
            paid=price if seen or agent.charge_missing else 0.0,
            expected_saving=saving,
            added_saving=_number(expected.added[leaf, k]),
            before=before,
            after=after,
            visit=visit,
            visit_price=self._visit_price(self.acquired.leaf_question[leaf, visits == visit]) if begins else 0.0,
            compelled=bool(expected.demanded[leaf, k]) and not saving >= 0,  # nor where the policy cannot tell
        )

    def _price(self, leaf: int, k: int) -> float:
        """What a question cost; where it is missing, what it would have."""
        problem = self.agent.problem
        if self.in_full is None or not (self.acquired.leaf_outcome[leaf, k] >= 0 or self.agent.charge_missing):
            return float(self.expected.price[leaf, k])
        question = int(self.acquired.leaf_question[leaf, k])
        surcharge = float(problem.full_prices[question] - problem.prices[question]) * self.in_full[leaf, k]
        return float(prices_without_visits(problem)[question] + surcharge)

    def _visit_price(self, questions: IntArray) -> float:
        """What a visit for some questions cost beyond the prices."""
        visits = self.agent.problem.visits
        panel = np.isin(np.arange(self.agent.problem.n_questions), questions)
        return 0.0 if visits is None else float(visits.panel_costs(panel[None])[0])

    def _question_not_asked(self, leaf: int, n_asked: int) -> Question | None:
        saving, question = float(self.expected.saving[leaf, n_asked]), int(self.expected.following[leaf])
        # at a horizon of its own a policy answers that going on costs infinitely much
        if question == DECIDE or saving == -math.inf:
            return None
        return self.questions.describe(question, float(self.expected.price[leaf, n_asked]), saving)

    def _value(self, row: int, features: Sequence[Feature]) -> Any:
        """What a question showed; of a bundle, by name, what each of its features did that is not missing."""
        values = {feature.name: self._cell(row, feature.column) for feature in features}
        if len(features) == 1:
            return values[features[0].name]
        return {name: value for name, value in values.items() if value == value}

    def _cell(self, row: int, column: int) -> float | str:
        """What a cell holds as the classifier reads it: a number, NaN where missing, or a category."""
        value, categories = float(self.numbers[row, column]), column_categories(self.agent, column)
        return value if categories is None or math.isnan(value) else categories[int(value)]

    def _labels(self, row: int, column: int) -> list[str]:
        """Labels of a feature's outcomes: the few numbers that training showed, unless this row has another one."""
        if column not in self.few:
            self.few[column] = set(self.agent.coder.few_values(column).tolist())
        few = self.few[column]
        key = column, bool(few) and self._cell(row, column) not in few
        if key not in self.labels:
            self.labels[key] = outcome_labels(self.agent, column, intervals=key[1])
        return self.labels[key]


def _as_rows(agent: Agent, X: Any) -> Any:
    """Return one instance or several as a matrix, a data frame where the classifier was fitted on one."""
    X = plain_data(with_all_columns(agent, X))
    if hasattr(X, "to_frame") and not hasattr(X, "columns"):
        return X.to_frame().T.infer_objects()
    if sp.issparse(X):
        X = X.reshape(1, -1) if X.ndim == 1 else X
        return X if X.format in ("csr", "csc") else X.tocsr()
    if not hasattr(X, "columns") and np.ndim(X) == 0:
        raise ValueError(f"X must be rows, or the values of one, got {short_repr(X)}; row 3 is X[3:4].")
    if hasattr(X, "columns") or np.ndim(X) != 1:
        return X if hasattr(X, "shape") else np.asarray(X)
    row = np.empty((1, len(X)), dtype=object)
    row[0] = X
    if agent.encoder is None or row.shape[1] != len(agent.encoder.columns_):
        return np.asarray(X)[None]
    import pandas as pd

    return pd.DataFrame(row, columns=agent.encoder.columns_).infer_objects()
