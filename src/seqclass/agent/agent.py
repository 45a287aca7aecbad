"""What was fitted: one frozen record, which codes cases, acquires and decides, and which all else looks at."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.frames import FrameEncoder, spelt
from seqclass._utils.model_files import register
from seqclass._utils.text import value_text
from seqclass._utils.validation import check_integer
from seqclass.agent._coding import OutcomeCoder, check_input
from seqclass.agent._row_fingerprints import Marks, RowFingerprints, cells_of, row_marks
from seqclass.agent._warm_start import WarmStart, initial_policy_beliefs, needless_of
from seqclass.agent.calibration import Calibration
from seqclass.agent.differential import Differential
from seqclass.agent.problem import acquisition_problem
from seqclass.agent.record import AcquisitionRecord, EncodedRows
from seqclass.bn import DiscreteNetwork, ObservationModel
from seqclass.bn.ordering import check_order
from seqclass.costs import Costs, Prices
from seqclass.labels import Labels
from seqclass.pomdp import DECIDE, AcquisitionProblem, Policy, acquire, evaluate
from seqclass.pomdp.acquisition import Acquisition
from seqclass.pomdp.names import ImpossibleOutcome
from seqclass.pomdp.policy import OrderingChoice
from seqclass.pomdp.problem import BeliefState
from seqclass.pomdp.solvers.ordering.rules import make_ask

__all__ = ["Agent", "agent_of"]


@register
class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Holds what scikit-learn checks of columns, ``n_features_in_`` and ``feature_names_in_``; errors call it so."""

    n_features_in_: int


@register
@dataclass(frozen=True, eq=False)
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
    needless : ndarray of int of shape (n_known, n_outcomes)
        Feature of the model that each outcome of these makes needless to ask for, -1 for none; empty if none ever does.
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
    needless: IntArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.intp))
    differential: Differential | None = None

    @property
    def n_features(self) -> int:
        """Number of columns of the data."""
        return self.columns.n_features_in_

    @property
    def feature_names(self) -> npt.NDArray[Any] | None:
        """Names of the columns, where they have any."""
        return getattr(self.columns, "feature_names_in_", None)

    def feature_name(self, column: int) -> str:
        """Name of a column; ``"x3"`` for column 3 where there are no names."""
        return f"x{column}" if self.feature_names is None else str(self.feature_names[column])

    @property
    def decision_costs(self) -> FloatArray:
        """Cost of each decision (column) when each class (row) is true."""
        return self.problem.decision_costs

    @property
    def order(self) -> IntArray:
        """Columns in the order they would be asked for, as far as the policy's horizon."""
        return self.support[self.asked()]

    @property
    def read(self) -> IntArray:
        """Columns that are read of rows: what is known before the first question, and what may be asked for."""
        return np.concatenate([self.support[self.known], self.order])

    @property
    def ordering(self) -> OrderingChoice | None:
        """The orders that were tried, where the solver chose among several."""
        return self.policy.info.ordering

    @property
    def expected_cost(self) -> float:
        """What the model itself expects a case to cost: the upper end of the certificate, or else by simulation."""
        upper = self.policy.info.upper
        return evaluate(self.problem, self.policy).cost if np.isnan(upper) else float(upper)

    def categories(self, column: int) -> list[str] | None:
        """Categories of a column, or None for a number."""
        if self.encoder is None or (name := self.encoder.columns_[column]) not in self.encoder.categories_:
            return None
        return [str(category) for category in self.encoder.categories_[name].tolist()]

    def outcome_labels(self, column: int, *, intervals: bool = False) -> list[str]:
        """Describe what a column may show: its categories, or its bins."""
        known = self.categories(column)
        if known is None:
            return self.coder.labels(column, intervals=intervals)
        last = [] if self.coder.missing_code[column] < 0 else ["(missing)" if "missing" in known else "missing"]
        return known + last

    def is_category(self, column: int, value: Any) -> bool:
        """Whether a value is one of the categories of a column, however these are spelt."""
        return self.encoder is not None and self.encoder.code(self.encoder.columns_[column], value, "missing") >= 0

    def answers(self, column: int) -> list[str]:
        """What a column of categories may show, in the order to offer it: of a network that of its file; else none."""
        known, model = self.categories(column) or [], self.model
        if isinstance(model, DiscreteNetwork) and column in self.support:
            name = model.questions_[int(np.searchsorted(self.support, column))]
            listed = list(map(spelt, model.network_.states[model.network_.names.index(name)]))
            known = listed if set(listed) == set(known) else known
        return known

    def few_values(self, column: int) -> list[str]:
        """The few whole numbers that training showed of a column, as text; none where it showed others, or many."""
        return list(map(value_text, self.coder.few_values(column).tolist()))

    def choices(self, column: int, words: Labels) -> dict[str, str]:
        """Values to choose from, and their words, in the order to offer them; none where a number is to be told."""
        name, known = self.feature_name(column), self.outcome_labels(column)
        own, values = words.answers(name), self.answers(column)
        if not values and self.coder.discretizer_ is None:  # outcomes are told as they are
            values = known[: self.coder.n_value_outcomes[column]]
        if values:
            return {value: own.get(value, value) for value in words.in_order(name, values)}
        few = self.few_values(column) if own else []
        outcomes = {value: self.coder.code_value(column, float(value)) for value in few}
        texts = {value: own.get(value, own.get(known[outcome], "")) for value, outcome in outcomes.items()}
        # where one has no words, others may be meant as well
        return {value: texts[value] for value in words.in_order(name, texts)} if all(texts.values()) else {}

    def words(self, labels: Any) -> Labels:
        """Labels, or what they are made of, checked against columns, bundles, what they may show, and decisions."""
        number = {self.feature_name(column): column for column in range(self.n_features)}

        def shown_by(name: str) -> list[str]:
            if (column := number.get(name)) is None:  # a bundle
                return []
            return self.answers(column) or list(dict.fromkeys([*self.outcome_labels(column), *self.few_values(column)]))

        names = dict.fromkeys([*number, *self.prices.bundle_names])
        return Labels.from_value(labels).check(names, shown_by, self.classes.tolist(), self.decisions.tolist())

    def asked(self, whole: bool = False) -> IntArray:
        """Features of the model that may be asked for, in order; or all of the problem, beyond the policy's horizon."""
        problem = self.problem
        questions = range(problem.n_questions if problem.any_order or whole else self.policy.n_stages)
        if problem.bundles is None:
            return problem.features[: len(questions)]
        return np.concatenate(
            [np.empty(0, dtype=np.intp), *(problem.structure.members(question) for question in questions)]
        )

    def all_questions(self) -> AcquisitionProblem:
        """All that the model could ask, in any order; the first questions are those of the problem."""
        asked = self.asked(whole=True)
        order = np.concatenate([asked, np.setdiff1d(np.arange(len(self.support)), asked)])
        prices = self.prices.take(self.support)
        costs, prior = self.decision_costs, self.problem.prior
        problem = acquisition_problem(self.model, order, prices, costs, prior, any_order=True, bundles=prices.bundles)
        return problem.replace(_naming=self.problem._naming)

    def numbers(self, X: Any) -> Any:
        """Rows as numbers, checked against the columns of the fit; NaN where missing."""
        return check_input(self.columns, X, self.encoder, self.handle_unknown)

    def outside_training(self, X: Any, order: IntArray) -> BoolArray:
        """Which answers of rows are numbers outside of what training showed, (n, columns that are read); what each row
        asked for is given as in `AcquisitionRecord.order`.
        """
        columns, told = self.read, self.support[self.known]
        bundles: Any = self.prices.bundles
        X = self.numbers(X)[:, columns]
        X = X.tocsc() if hasattr(X, "tocsc") else X
        outside = np.zeros(X.shape, dtype=bool)
        for at, column in enumerate(columns.tolist()):
            ends = None if self.categories(column) else self.coder.training_range(column)
            if ends is not None:
                values = X[:, [at]].toarray()[:, 0] if hasattr(X, "toarray") else X[:, at]
                outside[:, at] = (values < ends[0]) | (values > ends[1])
            if outside[:, at].any() and column not in told:
                whole = bundles is not None and bundles[column] >= 0  # a bundle goes by one of its columns
                outside[:, at] &= np.isin(order, np.flatnonzero(bundles == bundles[column]) if whole else column).any(
                    axis=1
                )
        return outside

    def encode(self, X: Any, features: IntArray | None = None) -> EncodedRows:
        """Outcomes of some features of the model, by default of what may be asked for, and of what is known."""
        features = self.asked() if features is None else features
        features = np.union1d(features, self.known) if self.known.size else features
        X = self.numbers(X)
        # lots are drawn from what may be asked for, whatever else the instance comes with
        keys = X[:, self.order] if len(self.policy.initial_belief()[0]) > 1 else None
        column, wanted = np.zeros(self.support.size, dtype=np.intp), self.support[features]
        if not wanted.size:
            return EncodedRows(np.empty((X.shape[0], 0), dtype=np.int8), column, keys)
        coder = self.coder.restrict(wanted)
        if coder is self.coder or 2 * wanted.size >= X.shape[1]:
            return EncodedRows(self.coder.transform(X), self.support, keys)
        column[features] = np.arange(wanted.size)
        return EncodedRows(coder.transform(X[:, wanted]), column, keys)

    def outcomes(self, X: Any) -> Any:
        """Outcomes of all features of the model, (n, n_features of the model)."""
        rows = self.encode(X, np.arange(self.support.size))
        return rows.codes[:, rows.columns]

    def run(
        self,
        X: Any,
        record_beliefs: bool = False,
        known: Sequence[Any] = (),
        budget: int | None = None,
        keys: Any = None,
    ) -> Acquisition:
        """Acquire and decide; see `BaseSequentialClassifier.acquire`. Lots are drawn by keys, or else by contents."""
        features, asked = self.known_features(known), self.asked(whole=budget is not None)
        rows = self.encode(X, np.union1d(asked, features) if features.size else asked)
        if keys is not None and rows.keys is not None:
            rows = rows._replace(keys=keys)
        return self.follow(rows, record_beliefs, features, budget)

    def follow(
        self, rows: EncodedRows, record_beliefs: bool, known: IntArray, budget: int | None = None
    ) -> Acquisition:
        """Acquire and decide on rows of outcomes, of which features of the model are known."""
        with self.possible():
            start, ask = self.started(rows, known, budget)
            return acquire(
                self.policy,
                rows.codes,
                columns=rows.columns,
                charge_missing=self.charge_missing,
                record_beliefs=record_beliefs,
                keys=rows.keys,
                start=start,
                ask=ask,
            )

    @contextmanager
    def possible(self) -> Iterator[None]:
        """Name the column and its value where rows show what the model holds for impossible."""
        try:
            yield
        except ImpossibleOutcome as error:
            column = int(self.support[error.feature])
            alone = self.prices.bundles is None or self.prices.bundles[column] < 0
            showed = f" = {self.outcome_labels(column)[error.outcome]}" if alone else ", with what is shown beside it,"
            raise ValueError(
                f"a row of X is impossible by the model: {self.feature_name(column)}{showed} has probability zero "
                "given what was seen of the row before; correct the value or leave it missing, or smooth the model."
            ) from None

    def started(self, rows: EncodedRows, known: IntArray, budget: int | None) -> tuple[Any, Any]:
        """Where instances start that have known features, and what they ask at a budget: what `acquire` takes."""
        if budget is not None:
            self._check_budget(budget)
        if not np.setdiff1d(known, self.known).size:
            return self.opening(rows), None if budget is None else make_ask(self.policy, budget=budget)
        features = np.union1d(known, self.known)
        seen = rows.codes[:, rows.columns[self.known]]
        needless = needless_of(self.needless, np.asarray(seen.toarray() if sparse.issparse(seen) else seen))
        whole, lots = self.all_questions(), self._lots(rows)
        warm = WarmStart(self.policy, whole, features, rows.codes, rows.columns, lots, needless=needless)
        return (warm.info, warm.node), make_ask(self.policy, warm.see, budget)

    def _check_budget(self, budget: int) -> None:
        check_integer(budget, "budget", 0)
        if self.policy.problem.rules is not None:
            raise ValueError(
                "budget does not know of rules that say what has to be asked: fit with max_features instead."
            )

    def opening(self, rows: EncodedRows, policy: Policy | None = None) -> tuple[BeliefState, IntArray] | None:
        """Instances once what is known at the start was seen, for `acquire`; None where nothing is known then."""
        if not self.known.size:
            return None
        seen = rows.codes[:, rows.columns[self.known]]
        seen = np.asarray(seen.toarray() if sparse.issparse(seen) else seen)
        lot = self._lots(rows, policy)
        return initial_policy_beliefs(self.model, policy or self.policy, self.known, seen, lot, self.needless)

    def _lots(self, rows: EncodedRows, policy: Policy | None = None) -> IntArray:
        keys = rows.keys
        return (
            np.zeros(rows.codes.shape[0], dtype=np.intp)
            if keys is None
            else (policy or self.policy).sample_component(keys)
        )

    def acquire(
        self,
        X: Any,
        *,
        record_beliefs: bool = False,
        known: Sequence[Any] = (),
        budget: int | None = None,
        keys: Any = None,
    ) -> AcquisitionRecord:
        """Acquire and decide, and tell what was acquired; see `run`."""
        return self.told(self.run(X, record_beliefs, known, budget, keys), known, budget)

    def told(self, acquired: Acquisition, known: Sequence[Any] = (), budget: int | None = None) -> AcquisitionRecord:
        """The record of what was acquired, with what was known at the start and the budget."""
        record = AcquisitionRecord.from_acquisition(acquired, self.decisions, self.support, self.prices.visits)
        as_planned = budget is None and not np.setdiff1d(self.known_features(known), self.known).size
        if self.differential is None or not as_planned:
            return record
        return replace(record, differential=self.differential.holds(record.posterior))

    def next_question(self, X: Any, known: npt.ArrayLike | None = None, *, budget: int | None = None) -> IntArray:
        """What to ask next of each instance, a column or -1; see `BaseSequentialClassifier.next_question`."""
        if len(self.policy.initial_belief()[0]) > 1:
            raise ValueError(
                "next_question keeps nothing between calls, and this policy is drawn by lot for each instance "
                "(target_cost, exposure control): use acquire(X) or session()."
            )
        if budget is not None:
            self._check_budget(budget)
        codes = self.outcomes(X)
        codes = np.asarray(codes.toarray() if sparse.issparse(codes) else codes)
        gone = self.coder.missing_code[self.support]
        if known is None:
            asked = codes != gone
            asked[:, self.known] = codes[:, self.known] >= 0
            codes = np.where(asked, codes, -1)
        else:
            mask = np.asarray(known)
            shape = (len(codes), self.prices.full.size)
            if mask.shape != shape or mask.dtype.kind != "b":
                raise ValueError(
                    f"known must be a mask of bool of the shape of X, {shape}; got {mask.dtype} of shape {mask.shape}."
                )
            asked = mask[:, self.support]
            asked[:, self.known] = codes[:, self.known] >= 0
            codes = np.where(asked, codes, -1)
        features, lot = np.arange(self.support.size), np.zeros(len(codes), dtype=np.intp)
        needless, charged = needless_of(self.needless, codes[:, self.known]), self.charge_missing
        whole, known_of_all = self.all_questions(), self.known
        with self.possible():
            warm = WarmStart(self.policy, whole, features, codes, features, lot, asked, charged, needless, known_of_all)
        question = warm.next_question(self.policy, budget)[warm.node]
        return np.asarray(np.append(self.support[self.problem.features], DECIDE)[question])

    def known_features(self, known: Sequence[Any]) -> IntArray:
        """Features of the model that are known; those that a selector left out change nothing."""
        given = known if isinstance(known, (str, int)) else list(known)
        if not np.size(given):
            return np.empty(0, dtype=np.intp)
        columns = check_order(given, self.prices.full.size, self.feature_names, what="known")
        return np.flatnonzero(np.isin(self.support, columns))

    @property
    def marked_columns(self) -> IntArray:
        """Columns by which rows are known again: those that the problem may ask for, and those known at the start."""
        return np.unique(self.support[np.union1d(self.asked(whole=True), self.known)])

    def marked_cells(self) -> list[FloatArray | None]:
        """For each kind of marks the widths of cells; None for the values themselves."""
        return cells_of(self.coder.range_, self.marked_columns)

    def marks(self, X: Any, y: npt.NDArray[Any]) -> list[Marks]:
        """Marks of rows, numbers already: by the columns that the problem may ask for, and the class."""
        codes = np.searchsorted(self.classes, y)
        return [row_marks(X, self.marked_columns, codes, cells) for cells in self.marked_cells()]


Fitted = TypeVar("Fitted")


#: What to give in place of something else, by an attribute of that.
_INSTEAD = {
    "require_classifier": ": give the classifier of the contract, contract.classifier",
    "steps": ": give its last step, pipeline[-1], and rows as that sees them, pipeline[:-1].transform(X)",
    "best_estimator_": ": give its best_estimator_",
}


def check_classifier(fitted: Any) -> None:
    """Refuse what is no classifier of ours, or was not fitted."""
    if not (isinstance(fitted, BaseEstimator) and hasattr(type(fitted), "acquire")):
        told = next((remedy for name, remedy in _INSTEAD.items() if hasattr(fitted, name)), "")
        raise TypeError(
            f"a fitted SequentialClassifier or AdaptiveClassifier is wanted, got {type(fitted).__name__}{told}."
        )
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
