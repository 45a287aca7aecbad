"""What was fitted: one frozen record, which codes cases, acquires and decides, and which all else looks at."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import IntArray
from seqclass._utils.frames import FrameEncoder, column_labels, frame_columns, rows_as_frame
from seqclass._utils.marks import VALUES, mark_prefix, split_marks
from seqclass._utils.model_files import register
from seqclass._utils.text import near, short_repr
from seqclass._utils.validation import check_integer, in_order
from seqclass.agent._coding import OutcomeCoder, check_input, complete_rows
from seqclass.agent._naming import ColumnNaming, categories_of, outcome_labels_of
from seqclass.agent._row_fingerprints import RowFingerprints
from seqclass.agent._warm_start import WarmStart, initial_policy_beliefs
from seqclass.agent.calibration import Calibration
from seqclass.agent.differential import Differential
from seqclass.agent.problem import acquisition_problem
from seqclass.agent.record import AcquisitionRecord, EncodedRows
from seqclass.bn import ObservationModel
from seqclass.bn.ordering import check_order
from seqclass.costs import Costs, Prices
from seqclass.pomdp import DECIDE, AcquisitionProblem, Policy, acquire, evaluate
from seqclass.pomdp.acquisition import Acquisition
from seqclass.pomdp.names import ImpossibleOutcome
from seqclass.pomdp.policy import draw_lots
from seqclass.pomdp.prices_after import with_prices_after
from seqclass.pomdp.problem import BeliefState
from seqclass.pomdp.rules import rules_of
from seqclass.pomdp.single_cases import KeptHistories
from seqclass.pomdp.solvers.ordering.rules import make_ask

__all__ = ["Agent", "agent_of"]


@register
class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Holds what scikit-learn checks of columns, ``n_features_in_`` and ``feature_names_in_``; errors call it so."""

    n_features_in_: int


@register
@dataclass(frozen=True, eq=False, repr=False)
class Agent:
    """Everything that was fitted: how to code a case, the model, prices, the problem, the policy, and the decisions.

    A fitted classifier holds it as ``agent_``. Sessions, explanations, scores, certified errors, files and exports
    take it, or the classifier instead.

    Attributes
    ----------
    columns : Classifier
        Number and names of the columns of the data, as scikit-learn checks them.
    encoder : FrameEncoder or None
        Turns a data frame into numbers; None if the data were not a data frame.
    coder : OutcomeCoder
        Turns numbers into outcomes.
    support : ndarray of int
        Columns that are features of the model.
    model : ObservationModel
        Distribution of the features given the class.
    prices : Prices
        What columns cost alone, after another one of their group, and in bundles.
    problem : AcquisitionProblem
        What may be asked, and what decisions cost.
    policy : Policy
        What to do.
    classes : ndarray of shape (n_classes,)
        Class labels.
    decisions : ndarray of shape (n_decisions,)
        Labels of the decisions, the classes first.
    charge_missing : bool
        Whether a feature that is asked for but missing has to be paid for.
    handle_unknown : {"error", "missing"}
        What to do about a category that did not occur in training.
    target_name : str or None
        Name of the labels.
    calibration : Calibration or None
        How far answers are trusted, if that was learnt.
    seen : RowFingerprints or None
        Marks of the rows of the fit.
    unit : str
        Unit of prices and costs, such as ``"EUR"``; empty if none was given.
    known : ndarray of int
        Features of the model that are known before the first question.
    differential : Differential or None
        Which classes may still be true at the stop, if that was certified.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import SequentialClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> agent = SequentialClassifier().fit(X, y).agent_
    >>> agent.n_features, agent.acquire(X[:2]).decision.tolist()
    (4, [0, 0])
    """

    columns: Classifier
    encoder: FrameEncoder | None
    coder: OutcomeCoder
    support: IntArray
    model: ObservationModel
    prices: Prices
    problem: AcquisitionProblem
    policy: Policy
    classes: npt.NDArray[Any]
    decisions: npt.NDArray[Any]
    charge_missing: bool = False
    handle_unknown: str = "error"
    target_name: str | None = None
    calibration: Calibration | None = None
    seen: RowFingerprints | None = None
    unit: str = ""
    known: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    differential: Differential | None = None

    def __repr__(self) -> str:
        return f"<Agent: {len(self.classes)} classes, {self.n_features} features, {self.policy!r}>"

    @property
    def n_features(self) -> int:
        """Number of columns of the data."""
        return self.columns.n_features_in_

    @property
    def feature_names(self) -> npt.NDArray[Any] | None:
        """Names of the columns, where they have any."""
        return getattr(self.columns, "feature_names_in_", None)

    @property
    def order(self) -> IntArray:
        """Columns in the order they would be asked for, as far as the policy's horizon."""
        return self.support[features_to_ask(self)]

    @property
    def expected_cost(self) -> float:
        """What the model itself expects a case to cost: the upper end of the certificate, or else by simulation."""
        upper = self.policy.info.upper
        return evaluate(self.problem, self.policy).cost if np.isnan(upper) else float(upper)

    @cached_property
    def _histories(self) -> KeptHistories:
        """Histories of single cases, live ones too."""
        return KeptHistories(self.policy)

    @cached_property
    def _live_case_parts(self) -> dict[str, Any]:
        """What all live cases share, see `Questions.of`; it is neither stored nor copied by `replace`."""
        return {}

    def acquire(
        self,
        X: Any,
        *,
        record_beliefs: bool = False,
        known: Sequence[Any] = (),
        budget: int | None = None,
        keys: Any = None,
    ) -> AcquisitionRecord:
        """Acquire and decide, and tell what was acquired; see `BaseSequentialClassifier.acquire`."""
        return make_record(self, acquire_rows(self, X, record_beliefs, known, budget, keys), known, budget)

    def next_question(self, X: Any, known: npt.ArrayLike | None = None, *, budget: int | None = None) -> IntArray:
        """What to ask next of each instance, a column or -1; see `BaseSequentialClassifier.next_question`."""
        if len(self.policy.initial_belief()[0]) > 1:
            raise ValueError(
                "next_question keeps nothing between calls, and this policy is drawn by lot for each instance "
                "(target_cost, exposure control): use acquire(X) or session()."
            )
        if budget is not None:
            _check_budget(self, budget)
        codes = all_outcomes(self, X)
        codes = np.asarray(codes.toarray() if sparse.issparse(codes) else codes)
        missing_code = self.coder.missing_code[self.support]
        if known is None:
            asked = codes != missing_code
        else:
            mask, names = np.asarray(in_order(known, "known", None, None)), self.feature_names
            if names is not None and any(frame_columns(one) not in (None, names.tolist()) for one in (X, known)):
                raise ValueError("known goes by the columns of the fit in their order: give X[clf.feature_names_in_].")
            shape = (len(codes), self.prices.full.size)
            if mask.shape != shape or mask.dtype.kind != "b":
                raise ValueError(
                    f"known must be a mask of bool of the shape of X, {shape}; got {mask.dtype} of shape {mask.shape}."
                )
            asked = mask[:, self.support]
        asked[:, self.known] = codes[:, self.known] >= 0
        codes = np.where(asked, codes, -1)
        features, lot = np.arange(self.support.size), np.zeros(len(codes), dtype=np.intp)
        whole, known_of_all, charged = whole_problem(self), self.known, self.charge_missing
        with name_impossible(self):
            warm = WarmStart(self.policy, whole, features, codes, features, lot, asked, charged, known_of_all)
        question = warm.next_question(self.policy, budget)[warm.node]
        return np.asarray(np.append(self.support[self.problem.features], DECIDE)[question])

    def _outcome_rows(self, X: Any, policy: Policy) -> tuple[Any, IntArray, Any, tuple[BeliefState, IntArray] | None]:
        """Rows as outcomes, the column of each feature, what lots are drawn by, and the first beliefs if there are."""
        rows = encode_rows(self, X, np.arange(self.support.size))
        return rows.codes, rows.columns, rows.keys, initial_row_beliefs(self, rows, policy)

    def _shows(self, column: int) -> list[str]:
        """What a column may show, in full."""
        return outcome_labels(self, column, intervals=True)


def column_name(names: Sequence[str] | Mapping[int, str], column: int) -> str:
    """Name of a column among those that the user gives."""
    try:
        return str(names[column])
    except (KeyError, IndexError):
        raise ValueError(f"feature_names has no name for column {column}, which was asked for.") from None


def feature_name(agent: Agent, column: int, names: Sequence[str] | Mapping[int, str] | None = None) -> str:
    """Name of a column, that which the user gives if any; ``"x3"`` for column 3 where there are no names."""
    if names is not None:
        return column_name(names, column)
    return f"x{column}" if agent.feature_names is None else str(agent.feature_names[column])


def columns_by_name(agent: Agent) -> dict[str, int]:
    """Number of each column by its name."""
    return {feature_name(agent, column): column for column in range(agent.n_features)}


def read_columns(agent: Agent) -> IntArray:
    """Columns that are read of rows: what is known before the first question, and what may be asked for."""
    return np.concatenate([agent.support[agent.known], agent.order])


def column_categories(agent: Agent, column: int) -> list[str] | None:
    """Categories of a column, or None for a number."""
    return categories_of(agent.encoder, column)


def outcome_labels(agent: Agent, column: int, *, intervals: bool = False) -> list[str]:
    """Describe what a column may show: its categories, or its bins."""
    return outcome_labels_of(agent.encoder, agent.coder, column, intervals=intervals)


def naming_of(agent: Agent) -> ColumnNaming:
    """Names of the columns and classes, for a problem of the agent's model."""
    return ColumnNaming(
        classes=tuple(map(str, agent.classes.tolist())),
        decisions=tuple(map(str, agent.decisions.tolist())),
        names=agent.feature_names,
        encoder=agent.encoder,
        coder=agent.coder,
        support=agent.support,
        prices=agent.prices,
    )


def features_to_ask(agent: Agent, whole: bool = False) -> IntArray:
    """Features of the model that may be asked for, in order; or all of the problem, beyond the policy's horizon."""
    problem = agent.problem
    questions = range(problem.n_questions if problem.any_order or whole else agent.policy.n_stages)
    if problem.bundles is None:
        return problem.features[: len(questions)]
    return np.concatenate(
        [np.empty(0, dtype=np.intp), *(problem.structure.members(question) for question in questions)]
    )


def whole_problem(agent: Agent) -> AcquisitionProblem:
    """All that the model could ask, in any order; the first questions are those of the problem."""
    asked = features_to_ask(agent, whole=True)
    order = np.concatenate([asked, np.setdiff1d(np.arange(len(agent.support)), asked)])
    prices = agent.prices.take(agent.support)
    costs, prior = agent.problem.decision_costs, agent.problem.prior
    problem = acquisition_problem(agent.model, order, prices, costs, prior, any_order=True, bundles=prices.bundles)
    return with_prices_after(problem.replace(_naming=agent.problem._naming), prices.after)


def to_numbers(agent: Agent, X: Any) -> Any:
    """Rows as numbers, checked against the columns of the fit; NaN where missing."""
    return check_input(agent.columns, with_all_columns(agent, X), agent.encoder, agent.handle_unknown)


def with_all_columns(agent: Agent, X: Any) -> Any:
    """Rows with all columns, if they are told by names, of some columns or with marks; others as they are."""
    if sparse.issparse(X):  # of which some call themselves mappings
        return X
    return complete_rows(split_rows(agent, rows_as_frame(X)), agent.feature_names, agent.encoder, agent.n_features)


def marks_of(agent: Agent) -> dict[str, list[str]]:
    """The marks of each question that has some: a bundle of columns of yes and no that are named after it."""
    prices, names, encoder = agent.prices, agent.feature_names, agent.encoder
    if prices.bundles is None or names is None or encoder is None:
        return {}
    marks = dict[str, list[str]]()
    for number, question in enumerate(prices.bundle_names):
        own, start = [str(name) for name in names[prices.bundles == number]], mark_prefix(question)
        if all(n.startswith(start) and list(encoder.categories_.get(n, ())) == VALUES for n in own) and len(own) > 1:
            marks[question] = [name.removeprefix(start) for name in own]
    return marks


def question_of_marks(agent: Agent) -> dict[str, str]:
    """The question of each column that is a mark of one."""
    return {mark_prefix(question) + mark: question for question, marks in marks_of(agent).items() for mark in marks}


def names_at_start(agent: Agent) -> list[str]:
    """What is known of every case before the first question: columns, and questions with marks."""
    of = question_of_marks(agent)
    names = (feature_name(agent, column) for column in agent.support[agent.known].tolist())
    return list(dict.fromkeys(of.get(name, name) for name in names))


def question_names(agent: Agent) -> npt.NDArray[Any] | None:
    """Names of the columns, or their numbers, where those that a bundle shows have its name; None if none has one."""
    names, bundles = agent.feature_names, agent.prices.bundles
    if bundles is None:
        return names
    names = np.array(range(agent.n_features) if names is None else names, dtype=object)
    for number, name in enumerate(agent.prices.bundle_names):
        own = agent.support[bundles[agent.support] == number]
        if len(own) > 1:  # a column that is left alone is asked for by its own name
            names[own] = name
    return names


def split_rows(agent: Agent, X: Any) -> Any:
    """Rows in which questions with marks are columns of these, if some are told as ``"sharp; burning"`` or a list."""
    if agent.prices.bundles is None:
        return X
    rows = [X] if isinstance(X, Mapping) else X
    dicts = isinstance(rows, list) and bool(rows) and all(isinstance(row, Mapping) for row in rows)
    keys = {key for row in rows for key in row} if dicts else set(map(str, getattr(X, "columns", ())))
    marks = {name: own for name, own in marks_of(agent).items() if name in keys} if keys else {}
    if not marks:
        return X
    if dicts:
        import pandas as pd

        X = pd.DataFrame([dict(row) for row in rows], dtype=object)
        return [row.dropna().to_dict() for _, row in split_marks(X, marks, agent.handle_unknown).iterrows()]
    return split_marks(X, marks, agent.handle_unknown)


def refuse_absent(
    agent: Agent, order: IntArray, names: Sequence[str], where: Any, rows: Any, known: IntArray | None = None
) -> None:
    """Refuse rows that need a column which is not among the names, by what each asked for (`AcquisitionRecord.order`).

    What is known, by default at the start, every row needs.
    """
    bundles, there = agent.prices.bundles, set(names)
    absent = [j for j in agent.support.tolist() if feature_name(agent, j) not in there]
    always = np.intersect1d(absent, agent.support[agent.known if known is None else known])
    needs = {j: j for j in absent}
    if bundles is not None:  # which go by one of their columns
        needs |= {i: j for j in absent if bundles[j] >= 0 for i in np.flatnonzero(bundles == bundles[j]).tolist()}
    row, step = np.nonzero(np.isin(order, list(needs)))
    if not row.size and not (len(order) and always.size):
        return
    at, column = (0, int(always[0])) if always.size else (int(row[0]), needs[int(order[row[0], step[0]])])
    name, advice = feature_name(agent, column), "the model knows no names, so its columns are x0, x1 and so on."
    if agent.feature_names is not None:
        reindex = " If no row has it, give X.reindex(columns=clf.feature_names_in_)." if where == "X" else ""
        advice = near(name, list(names)) + reindex
    raise ValueError(f"{where} lacks the column {short_repr(name)}, which row {rows[at]} needs; {advice}")


def require_columns(agent: Agent, X: Any, acquired: Acquisition | IntArray, known: IntArray | None = None) -> None:
    """Refuse a data frame without a column that a row needs: has acquired, or any of those that are given."""
    columns = frame_columns(X) or []
    labels = column_labels(agent.feature_names, agent.encoder, columns)
    if not hasattr(X, "columns") or labels is None or (there := set(columns)).issuperset(labels):
        return
    there |= {mark_prefix(q) + mark for q, own in marks_of(agent).items() if q in there for mark in own}
    names = sorted(map(str, there.difference(labels)))
    names += [feature_name(agent, j) for j, label in enumerate(labels) if label in there]
    order = acquired[None] if isinstance(acquired, np.ndarray) else make_record(agent, acquired).order
    refuse_absent(agent, order, names, "X", getattr(X, "index", range(len(order))), known)


def encode_rows(
    agent: Agent, X: Any, features: IntArray | None = None, whole: bool = False, complete: bool = False
) -> EncodedRows:
    """Outcomes of some features of the model, by default of `features_to_ask`, and of what is known.

    Of a data frame with complete columns none of them may be left out.
    """
    features = features_to_ask(agent, whole) if features is None else features
    features = np.union1d(features, agent.known) if agent.known.size else features
    if complete:
        require_columns(agent, X, agent.support[features])
    X = to_numbers(agent, X)
    # lots are drawn from what may be asked for, whatever else the instance comes with
    keys = X[:, agent.order] if len(agent._histories.lots) > 1 else None
    column, wanted = np.zeros(agent.support.size, dtype=np.intp), agent.support[features]
    if not wanted.size:
        return EncodedRows(np.empty((X.shape[0], 0), dtype=np.int8), column, keys)
    coder = agent.coder if 2 * wanted.size >= X.shape[1] else agent.coder.restrict(wanted)
    if coder is agent.coder:
        return EncodedRows(agent.coder.transform(X), agent.support, keys)
    column[features] = np.arange(wanted.size)
    return EncodedRows(coder.transform(X[:, wanted]), column, keys)


def all_outcomes(agent: Agent, X: Any) -> Any:
    """Outcomes of all features of the model, (n, n_features of the model)."""
    rows = encode_rows(agent, X, np.arange(agent.support.size))
    return rows.codes[:, rows.columns]


def acquire_rows(
    agent: Agent,
    X: Any,
    record_beliefs: bool = False,
    known: Sequence[Any] = (),
    budget: int | None = None,
    keys: Any = None,
) -> Acquisition:
    """Acquire and decide; see `BaseSequentialClassifier.acquire`. Lots are drawn by keys, or else by contents."""
    features, asked = features_at_start(agent, known), features_to_ask(agent, whole=budget is not None)
    rows = encode_rows(agent, X, np.union1d(asked, features) if features.size else asked)
    if keys is not None and rows.keys is not None:
        rows = rows._replace(keys=keys)
    acquired = acquire_encoded(agent, rows, features, budget, record_beliefs=record_beliefs)
    if hasattr(X, "columns"):
        require_columns(agent, X, acquired, np.union1d(features, agent.known).astype(np.intp))
    return acquired


def acquire_encoded(
    agent: Agent, rows: EncodedRows, known: IntArray, budget: int | None = None, max_single: int = 8, **records: bool
) -> Acquisition:
    """Acquire and decide on rows of outcomes, of which features of the model are known; see `pomdp.acquire`."""
    with name_impossible(agent):
        start, ask = start_rows(agent, rows, known, budget)
        few = isinstance(rows.codes, np.ndarray) and 0 < len(rows.codes) <= max_single and start is None and ask is None
        if few and not any(records.values()) and agent.policy.problem.visits is None:
            return agent._histories.acquire(rows.codes, rows.columns, rows.keys, agent.charge_missing)
        return acquire(
            agent.policy,
            rows.codes,
            columns=rows.columns,
            charge_missing=agent.charge_missing,
            keys=rows.keys,
            start=start,
            ask=ask,
            **records,
        )


@contextmanager
def name_impossible(agent: Agent) -> Iterator[None]:
    """Name the column and its value where rows show what the model holds for impossible."""
    try:
        yield
    except ImpossibleOutcome as error:
        column = int(agent.support[error.feature])
        alone = agent.prices.bundles is None or agent.prices.bundles[column] < 0
        showed = f" = {outcome_labels(agent, column)[error.outcome]}" if alone else ", with what is shown beside it,"
        raise ValueError(
            f"a row of X is impossible by the model: {feature_name(agent, column)}{showed} has probability zero "
            "given what was seen of the row before; correct the value or leave it missing, or smooth the model."
        ) from None


def start_rows(agent: Agent, rows: EncodedRows, known: IntArray, budget: int | None) -> tuple[Any, Any]:
    """Where instances start that have known features, and what they ask at a budget: what `acquire` takes."""
    if budget is not None:
        _check_budget(agent, budget)
    if not known.size or not np.setdiff1d(known, agent.known).size:
        return initial_row_beliefs(agent, rows), None if budget is None else make_ask(agent.policy, budget=budget)
    features = np.union1d(known, agent.known)
    whole, lots = whole_problem(agent), _sample_components(agent.policy, rows)
    warm = WarmStart(agent.policy, whole, features, rows.codes, rows.columns, lots)
    return (warm.info, warm.node), make_ask(agent.policy, warm.see, budget)


def _check_budget(agent: Agent, budget: int) -> None:
    check_integer(budget, "budget", 0)
    rules = rules_of(agent.policy.problem)
    if rules is not None and rules.limits:
        raise ValueError("budget does not know of rules that say what has to be asked: fit with max_features instead.")


def initial_row_beliefs(
    agent: Agent, rows: EncodedRows, policy: Policy | None = None
) -> tuple[BeliefState, IntArray] | None:
    """Instances once what is known at the start was seen, for `acquire`; None where nothing is known then."""
    if not agent.known.size:
        return None
    seen, policy = outcomes_at_start(agent, rows), policy or agent.policy
    lot = _sample_components(policy, rows)
    return initial_policy_beliefs(agent.model, policy, agent.known, seen, lot)


def outcomes_at_start(agent: Agent, rows: EncodedRows) -> IntArray:
    """Outcomes of what is known before the first question, (n, n_known)."""
    seen = rows.codes[:, rows.columns[agent.known]]
    return np.asarray(seen.toarray() if sparse.issparse(seen) else seen)


def _sample_components(policy: Policy, rows: EncodedRows) -> IntArray:
    return np.zeros(rows.codes.shape[0], dtype=np.intp) if rows.keys is None else draw_lots(policy, rows.keys)


def make_record(
    agent: Agent, acquired: Acquisition, known: Sequence[Any] = (), budget: int | None = None
) -> AcquisitionRecord:
    """The record of what was acquired, with what was known at the start and the budget."""
    record = AcquisitionRecord.from_acquisition(acquired, agent.decisions, agent.support, agent.prices.visits)
    as_planned = budget is None and not np.setdiff1d(features_at_start(agent, known), agent.known).size
    if agent.differential is None or not as_planned:
        return record
    return replace(record, differential=agent.differential.holds(record.posterior))


def features_at_start(agent: Agent, known: Sequence[Any]) -> IntArray:
    """Features of the model that are known; those that a selector left out change nothing."""
    features = known if isinstance(known, (str, int)) else list(known)
    if features == []:
        return np.empty(0, dtype=np.intp)
    columns = check_order(features, agent.prices.full.size, agent.feature_names, what="known")
    return np.flatnonzero(np.isin(agent.support, columns))


Fitted = TypeVar("Fitted")


#: What to give in place of something else, by an attribute of that.
_INSTEAD = {
    "require_classifier": ": give the classifier of the contract, contract.classifier",
    "steps": ": give its last step, pipeline[-1], and rows as that sees them, pipeline[:-1].transform(X)",
    "best_estimator_": ": give its best_estimator_",
    "checkpoints_": ": decide series by its own decide, or session",
}


def check_classifier(fitted: Any) -> None:
    """Refuse what is no classifier of ours, or was not fitted."""
    if not (isinstance(fitted, BaseEstimator) and hasattr(type(fitted), "acquire")):
        advice = next((remedy for name, remedy in _INSTEAD.items() if hasattr(fitted, name)), "")
        raise TypeError(
            f"a fitted SequentialClassifier or AdaptiveClassifier is wanted, got {type(fitted).__name__}{advice}."
        )
    if not hasattr(fitted, "agent_"):
        check_is_fitted(fitted, "agent_")


def agent_of(fitted: Any) -> Agent:
    """The record of a fitted classifier, or the record itself."""
    if isinstance(fitted, Agent):
        return fitted
    check_classifier(fitted)
    agent: Agent = fitted.agent_
    # settings that may be changed after the fit, as scikit-learn's users do
    costs = Costs.from_value(fitted.feature_costs)
    now = {"charge_missing": costs.charge_missing, "handle_unknown": fitted.handle_unknown, "unit": costs.unit_name()}
    same = all(getattr(agent, name) == value for name, value in now.items())
    return agent if same else replace(agent, **now)


def copy_fitted(fitted: Fitted, agent: Agent, keep_held_out: bool = False) -> Fitted:
    """A fitted classifier, or agent, with another agent; what was held out with the former goes, unless it is kept."""
    if isinstance(fitted, Agent):
        return agent  # type: ignore[return-value]
    other: Any = copy.copy(fitted)
    other.agent_ = agent
    if not keep_held_out:
        other.timings_ = {step: seconds for step, seconds in other.timings_.items() if step != "held_out"}
        other.__dict__.pop("held_out_", None)
    return other  # type: ignore[no-any-return]
