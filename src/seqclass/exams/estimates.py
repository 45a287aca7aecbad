"""A score with its precision: ability, or accuracy over a whole bank, from few items."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import logsumexp, softmax

from seqclass._utils.arrays import LEAST_CHANCE, BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.frames import is_frame
from seqclass._utils.model_files import Stored, save
from seqclass._utils.stored import check_array, require, require_array, require_numbers, require_part
from seqclass._utils.tables import Readable
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_choice, check_distribution, check_integer, check_real
from seqclass.agent.agent import feature_name
from seqclass.agent.record import AcquisitionRecord
from seqclass.agent.session import Session
from seqclass.bn import ClassMixture
from seqclass.bn._checks import check_codes
from seqclass.bn._em import mixture_shares
from seqclass.classifier import SequentialClassifier
from seqclass.costs import Costs
from seqclass.exams.items import ItemResponse, answer_codes
from seqclass.pomdp import DECIDE, Adaptive, ClassInformation, FirstK, Policy, Solver
from seqclass.pomdp.names import is_missing
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.sweeps.ladder import StopWhenSure, enough

__all__ = ["ScoreEstimates", "ScorePlan", "ScoreStates", "UntilPrecise", "estimate"]


@dataclass(frozen=True)
class ScoreTuning:
    """How scores are put on a grid, and what is made of persons that are known."""

    n_values: int = 30  #: cells of the scores, where states are more than twice as many
    apart: tuple[float, ...] = (0.1, 0.3)  #: shares of answers in which somebody may differ from a person that is known
    uniform: float = 0.02  #: share of these answers that any outcome is as likely for
    n_folds: int = 5  #: in which intervals are held against persons who were kept aside
    min_persons: int = 40  #: of fewer the errors are not looked at
    n_paths: int = 100  #: cases that a plan by price is fitted to


TUNING = ScoreTuning()


@dataclass(frozen=True, repr=False, eq=False)
class ScoreEstimates(Readable):
    """Estimated scores of ``n`` persons.

    Attributes
    ----------
    estimate, standard_error : ndarray of shape (n,)
        Of ability, or of the accuracy over the whole bank, between 0 and 1.
    lower, upper : ndarray of shape (n,)
        Interval that holds the score with probability ``confidence``.
    n_items : ndarray of int of shape (n,)
        Number of items that were answered.
    confidence : float
        Of the intervals.
    items : tuple of tuple of str
        Names of each person's items, as far as known in the order in which they were asked.
    unit : str
        Of the scores; in ``to_frame().attrs["units"]`` too.
    index : pandas.Index of shape (n,) or None
        That of the data frame of answers, and of `to_frame`.

    Examples
    --------
    >>> plan = estimate({"b": [0.0, 1.0]}, max_items=1)
    >>> plan.scores([[1, -1]]).to_frame().round(2)["estimate"].tolist()
    [0.69]
    """

    _columns = ("estimate", "standard_error", "lower", "upper", "n_items")
    _in_summary = (*_columns, "confidence")
    _axis = "person"

    estimate: FloatArray
    standard_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    n_items: IntArray
    confidence: float
    items: tuple[tuple[str, ...], ...]
    unit: str = ""
    index: Any = None

    def _unit(self, column: str) -> str:
        return self.unit if column in self._columns[:4] else ""


@dataclass(frozen=True, repr=False, eq=False)
class ScorePlan(Readable, Stored):
    """A plan that asks for a score; `estimate` makes it.

    Attributes
    ----------
    classifier : SequentialClassifier
        The plan as a classifier whose decisions are values of the score and whose costs are those of the errors: it has
        sessions, budgets, rules, certificates, files and exports like any other.
    states : ScoreStates
        The hidden states of its model, and the score that belongs to each.
    widening : float
        What standard errors of the model are multiplied by, as persons who were kept aside showed; 1 without such.
    confidence : float
        Of intervals.
    scale : tuple of float
        What an ability of 0 and one of 1 more are on the scale of reports, which names the decisions of ``classifier``
        too; its costs are of ability.

    Examples
    --------
    >>> plan = estimate({"b": [0.0, 1.0]}, target="ability", max_items=1)
    >>> plan.ask(lambda item: 0).estimate.round(2)
    array([-0.41])
    """

    _columns = ("widening", "confidence")

    classifier: SequentialClassifier
    states: ScoreStates
    widening: float = 1.0
    confidence: float = 0.95
    scale: tuple[float, float] = (0.0, 1.0)

    def _summary(self) -> str:
        zero, one = self.scale
        unit = f" on the scale {zero:g} ± {one:g}" if self.scale != (0.0, 1.0) else ""
        return f"{self.states.target}{unit} from {len(self.states.tables)} items, {self.confidence:.0%} intervals"

    def _check_stored(self) -> None:
        n = require_part(self, "classifier", SequentialClassifier).n_features_in_
        require(len(require_part(self, "states", ScoreStates).tables) == n, "states are of other items")
        check_array(np.array([self.widening, self.confidence, *self.scale]), "scale", "f", 4)

    def save(self, path: Any) -> None:
        """Write the plan to a file, which `seqclass.load` and the command line read.

        Parameters
        ----------
        path : path
            The file.
        """
        save(self, path)

    def acquire(self, X: Any, record: AcquisitionRecord | None = None) -> ScoreEstimates:
        """Ask each person what the plan asks, and estimate the scores.

        Parameters
        ----------
        X : array-like of shape (n, n_items)
            Answers, outcome codes, of which the plan looks at those that it asks for; missing where there is none.
        record : AcquisitionRecord, optional
            What the plan's `classifier` asked of these rows, if that is known already.

        Returns
        -------
        ScoreEstimates
        """
        return replace(self._estimate(*self._ask_items(X, record)), index=X.index if is_frame(X) else None)

    def scores(self, evidence: Any) -> ScoreEstimates:
        """Estimate the scores from answers to any items.

        Parameters
        ----------
        evidence : array-like of shape (n, n_items)
            Outcome codes, -1 where an item was not answered.

        Returns
        -------
        ScoreEstimates
        """
        codes = np.asarray(self.classifier.agent_.model._check_evidence(answer_codes(evidence, self._names)))
        told = self._estimate(codes, [np.flatnonzero(row >= 0) for row in codes])
        return replace(told, index=evidence.index if is_frame(evidence) else None)

    def ask(self, answer: Callable[[str], Any]) -> ScoreEstimates:
        """Ask one person item by item, live.

        Parameters
        ----------
        answer : callable
            Gets the name of an item and returns the outcome, such as 1 for right, or None or NaN if there is none.

        Returns
        -------
        ScoreEstimates
            Of one person.
        """
        session = self.classifier.session()
        while (item := session.next_feature) is not None:
            if is_missing(given := answer(item.name)):
                session.unavailable(item.name)
            else:
                session.observe(item.name, given)
        return self._estimate_session(session)

    def _estimate_session(self, session: Session) -> ScoreEstimates:
        """Estimate the score of a live case as it stands."""
        names, history = self._names, session.history
        codes, asked = np.full((1, len(names)), -1), np.array([names.index(one.name) for one in history], dtype=np.intp)
        codes[0, asked] = [one.outcome for one in history]
        return self._estimate(codes, [asked])

    @property
    def _names(self) -> list[str]:
        return [str(feature_name(self.classifier.agent_, j)) for j in range(len(self.states.tables))]

    def _ask_items(self, X: Any, record: AcquisitionRecord | None = None) -> tuple[IntArray, list[IntArray]]:
        """What the plan sees of rows, and the items that it asks, in order."""
        import pandas as pd

        codes = np.asarray(answer_codes(X, self._names, "X"))
        if record is None:
            named = hasattr(self.classifier, "feature_names_in_")
            record = self.classifier.acquire(pd.DataFrame(codes, columns=self._names) if named else codes)
        asked: BoolArray = np.zeros(codes.shape, dtype=bool)
        row, place = np.nonzero(record.order >= 0)
        asked[row, record.order[row, place]] = True
        return np.where(asked, codes, -1), [order[order >= 0] for order in record.order]

    def _estimate(self, codes: IntArray, order: list[IntArray]) -> ScoreEstimates:
        score, error = self.states.moments(codes)
        half = stats.norm.ppf((1 + self.confidence) / 2) * self.widening * error
        low, high = score - half, score + half
        if self.states.target == "accuracy":  # of which a part is seen
            right, ahead = _fractions(codes, self.states.n_outcomes).sum(axis=1), (codes < 0).sum(axis=1)
            low, high = np.maximum(low, right / codes.shape[1]), np.minimum(high, (right + ahead) / codes.shape[1])
        names = self._names
        items = tuple(tuple(names[j] for j in one.tolist()) for one in order)
        count, (zero, one), ability = (codes >= 0).sum(axis=1), self.scale, self.states.target == "ability"
        score, low, high = (zero + one * value for value in (score, low, high))
        unit = "points of ability" if ability else "share right"
        unit = unit if self.scale == (0.0, 1.0) else "points of the scale"
        return ScoreEstimates(score, one * error * self.widening, low, high, count, self.confidence, items, unit)


def score_plan_of(model: Any) -> ScorePlan | None:
    """What `estimate` made, where it is that; None of anything else."""
    return model if isinstance(model, ScorePlan) else None


def estimate(
    bank: Any = None,
    answers: Any = None,
    *,
    target: str = "accuracy",
    cost: str = "squared",
    price: Any = None,
    standard_error: float | None = None,
    max_items: int | None = None,
    confidence: float = 0.95,
    scale: tuple[float, float] = (0.0, 1.0),
    random_state: Any = 0,
    **settings: Any,
) -> ScorePlan:
    """Plan which items to ask for a score: ability, or the accuracy over all items of a bank.

    Estimation is a decision problem: decisions are values of the score, a decision's cost is its squared or absolute
    error. The next item is the one with the most information about the score. Accuracy is what was seen of the asked
    items and what is predicted of the others.

    With ``answers`` the hidden states are the abilities and, beside them, the persons who are known: somebody may be
    like one of these, but for a tenth or three tenths of the answers. How much each of the three counts is learnt, each
    person left out in turn. Models of language that share an ancestor fail on the same items, which one ability does
    not tell. Five times, persons are kept aside and asked by a plan of the others; intervals are widened until they
    hold the accuracy of so many of them as ``confidence`` says. A ``bank`` that was learnt from the same answers
    knows those who are kept aside, and intervals are too narrow: leave it out, and it is learnt without them.

    Parameters
    ----------
    bank : ItemResponse, ItemParameters, data frame, mapping or path, optional
        The items; what `ItemResponse.from_items` reads. None: learnt from ``answers``.
    answers : array-like or data frame of shape (n_persons, n_items), optional
        Outcome codes, -1 or NaN where missing, of persons who are known. Columns of a data frame are found by
        the items' names, where the bank has them.
    target : {"accuracy", "ability"}
        What is estimated. Accuracy is the mean over all items of the outcome as a share of the highest one.
    cost : {"squared", "absolute"}
        Cost of an error. The estimate is the mean or the median.
    price : float or array-like of shape (n_items,), optional
        Price of an item in units of the cost: an item is asked while it is expected to save more than that.
    standard_error : float, optional
        Asks until the standard error, in the unit of the score and widened as intervals are, is no larger. A bank may
        not bring it there, at the ends of the scale above all: all items are asked then, unless ``max_items`` or a
        ``price`` ends it first.
    max_items : int, optional
        Most items.
    confidence : float
        Of intervals.
    scale : tuple of float
        Mean and standard deviation of the scale that abilities are reported on, such as ``(500, 100)`` where they are 0
        and 1: of estimates, intervals and ``standard_error``.
    random_state : int, generator or None
        Seed.
    **settings
        Further settings of `SequentialClassifier.from_model`, such as ``rules``.

    Returns
    -------
    ScorePlan

    Raises
    ------
    ValueError
        If nothing says when to stop, or settings are wrong.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> bank = {"a": np.full(100, 1.5), "b": rng.normal(size=100)}
    >>> plan = estimate(bank, max_items=20)
    >>> plan.ask(lambda item: 1).to_frame().round(2).to_dict("records")
    [{'estimate': 0.99, 'standard_error': 0.01, 'lower': 0.96, 'upper': 1.0, 'n_items': 20}]
    """
    check_choice(target, "target", ("accuracy", "ability"))
    check_choice(cost, "cost", ("squared", "absolute"))
    if np.shape(scale) != (2,):
        raise ValueError(f"scale must be two numbers, such as (500, 100) of a mean of 500; got {short_repr(scale)}.")
    scale = (check_real(scale[0], "scale", -np.inf), check_real(scale[1], "scale", 1e-9))
    if scale != (0.0, 1.0) and target == "accuracy":
        raise ValueError('scale is for target="ability": accuracy is a share.')
    if check_real(confidence, "confidence", 0, 1) in (0, 1):
        raise ValueError("confidence must be above 0 and below 1.")
    if bank is None and answers is None:
        raise ValueError("bank is missing: give the parameters of the items, or answers to learn them from.")
    if price is None and standard_error is None and max_items is None:
        raise ValueError("say when to stop: by the price of an item, a standard_error, or max_items.")
    is_learnt = bank is None
    if is_learnt:
        codes = np.asarray(answer_codes(answers))
        size = np.maximum(codes.max(axis=0, initial=1) + 1, 2)  # nobody's being right is no reason that nobody can
        bank = _learn_items(codes, size)
    model = ItemResponse._from_bank(bank)
    columns = getattr(answers, "columns", None)
    names = list(map(str, columns)) if model.feature_names_ is None and columns is not None else model.feature_names_
    persons = None if answers is None else np.asarray(answer_codes(answers, model.feature_names_))
    if persons is not None:
        if persons.shape[1] != model.n_features_in_:
            raise ValueError(f"answers has {persons.shape[1]} items, and bank has {model.n_features_in_}.")
        persons = check_codes(persons, fitted=model.n_outcomes_, name="answers")
    stop = _Stop(
        price,
        None if standard_error is None else check_real(standard_error, "standard_error", 1e-9) / scale[1],
        None if max_items is None else check_integer(max_items, "max_items", 0),
        random_state,
    )
    states, widening = ScoreStates.learn(model, persons, target, cost), 1.0

    def plan(states: ScoreStates) -> ScorePlan:
        return ScorePlan(states.classifier(stop, names, settings, widening, scale), states, widening, confidence, scale)

    if persons is not None and target == "accuracy":
        parts = _keep_aside(states, persons, is_learnt)
        for _ in range((1 if standard_error is None else 2) if parts else 0):  # where it stops depends on it
            widening = _widen(plan, parts, persons, confidence)
    return plan(states)


def _learn_items(codes: IntArray, n_outcomes: IntArray) -> ItemResponse:
    """Items as answers tell of them."""
    return ItemResponse("graded", cuts=[0.0], standard_errors=False).fit(codes, n_outcomes=n_outcomes)


@dataclass(repr=False, eq=False)
class UntilPrecise(Solver):
    """Asks for the most information about a score until its standard error is small enough.

    Parameters
    ----------
    states : ScoreStates
        The states of the problem.
    standard_error : float
        In the unit of the score.
    max_items : int, optional
        Most items.
    solver : Solver, optional
        Of a policy that says what comes next, and may end it sooner; by default the item with the most information.
    certificate_paths, random_state
        As in `Solver`.

    Examples
    --------
    >>> plan = estimate({"b": [0.0] * 20}, target="ability", standard_error=0.8)
    >>> plan.ask(lambda item: 1).n_items
    array([3])
    """

    states: ScoreStates
    standard_error: float
    max_items: int | None = None
    _: KW_ONLY
    solver: Solver | None = None
    certificate_paths: int = 0

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        solver = self.solver or FirstK(None, rule=ClassInformation())
        return PrecisePolicy(solver._policy(problem), self.states, self.standard_error, self.max_items)


class PrecisePolicy(StopWhenSure):
    """Asks what another policy would ask next until that ends, or the standard error of a score is small enough."""

    def __init__(self, policy: Policy, states: ScoreStates, limit: float, most: int | None) -> None:
        super().__init__(policy, 0.0, most)
        self.states, self.limit = states, limit

    def _action(self, belief: BeliefState) -> IntArray:
        goes_on = (belief.stopping_cost > enough(belief, self.cost)) & ~self._is_precise(belief)
        return np.where(belief.account.waits | goes_on, self.policy.action(belief), DECIDE)

    def _is_terminal(self, belief: BeliefState) -> BoolArray:
        return np.asarray(self._is_precise(belief) | (self.policy.action(belief) == DECIDE))

    def _is_precise(self, belief: BeliefState) -> BoolArray:
        codes = np.full((len(belief), len(self.states.tables)), -1)
        assert belief.observed is not None  # of a problem in any order
        codes[:, belief.problem.features] = np.maximum(belief.observed, -1)
        return np.asarray(self.states.moments(codes)[1] <= self.limit)


@dataclass(frozen=True, repr=False, eq=False)
class ScoreStates(Readable, Stored):
    """Hidden states of persons, and the score that belongs to each.

    Attributes
    ----------
    prior, values : ndarray of shape (n_states,)
        Probability and score of each state.
    tables : ndarray of shape (n_items, V_max, n_states)
        P(outcome | state).
    n_outcomes : ndarray of int of shape (n_items,)
        Number of outcomes of each item.
    person : ndarray of int of shape (n_states,)
        Number of the person whom a state is made of; -1 for an ability.
    target, cost : str
        As of `estimate`.

    Examples
    --------
    >>> states = estimate({"b": [0.0, 1.0]}, max_items=1).states
    >>> states.tables.shape == (2, 2, len(states.prior))
    True
    """

    _in_summary = ("tables", "target", "cost")
    _columns = ("prior", "values", "person")
    _axis = "state"

    prior: FloatArray
    values: FloatArray
    tables: FloatArray
    n_outcomes: IntArray
    person: IntArray
    target: str
    cost: str

    def _check_stored(self) -> None:
        n = len(check_distribution(require_numbers(self, "prior", None), None, "prior"))
        require_numbers(self, "values", n)
        require_array(self, "person", "i", n, low=-1)
        tables = require_array(self, "tables", "f", None, None, n, low=0.0, high=1.0 + 1e-9)
        require_array(self, "n_outcomes", "i", len(tables), low=1, high=tables.shape[1])
        known = self.target in ("accuracy", "ability") and self.cost in ("squared", "absolute")
        require(known and not np.isnan(tables).any(), "states are of another score")

    @classmethod
    def learn(cls, model: ItemResponse, persons: IntArray | None, target: str, cost: str) -> ScoreStates:
        """Return the abilities of a model, and for accuracy the persons beside them."""
        prior, tables, whose = model._hidden_prior, model.tables_, np.full(len(model.weights_), -1)
        if persons is not None and target == "accuracy":
            prior, tables, whose = _with_persons(persons, prior, tables, model.n_outcomes_)
        values = model.ability_
        if target == "accuracy":
            values = _weigh_outcomes(tables, model.n_outcomes_, 1).mean(axis=0)
        return cls(prior, values, tables, model.n_outcomes_, whose, target, cost)

    def moments(self, codes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return estimates and standard errors: what was seen is known, the rest is predicted."""
        score, error = np.empty((2, len(codes)))
        for rows in chunks(len(codes), 8.0 * (4 * len(self.prior) + self.tables[:, :, 0].size)):
            shown = _indicators(codes[rows], self.tables.shape[1])
            share = softmax(_log_likelihood(shown, self._logs) + np.log(self.prior), axis=1)
            value, beside = np.broadcast_to(self.values, share.shape), 0.0
            if self.target == "accuracy":
                ahead, n = (codes[rows] < 0).astype(float), codes.shape[1]
                right = _fractions(codes[rows], self.n_outcomes).sum(axis=1)
                value = (right[:, None] + ahead @ self._mean) / n
                beside = ((ahead @ self._variance) * share).sum(axis=1) / n**2
            expected = (share * value).sum(axis=1)
            error[rows] = np.sqrt((share * (value - expected[:, None]) ** 2).sum(axis=1) + beside)
            score[rows] = expected if self.cost == "squared" else _medians(share, value)
        return score, error

    @cached_property
    def _logs(self) -> FloatArray:
        return np.log(np.maximum(self.tables, LEAST_CHANCE))

    @cached_property
    def _mean(self) -> FloatArray:
        return _weigh_outcomes(self.tables, self.n_outcomes, 1)

    @cached_property
    def _variance(self) -> FloatArray:
        return _weigh_outcomes(self.tables, self.n_outcomes, 2) - self._mean**2

    def without(self, persons: IntArray) -> ScoreStates:
        """Return the same without the states of some persons."""
        kept = ~np.isin(self.person, persons)
        prior = self.prior[kept] / self.prior[kept].sum()
        return replace(
            self, prior=prior, values=self.values[kept], tables=self.tables[:, :, kept], person=self.person[kept]
        )

    def classifier(
        self, stop: _Stop, names: Any, settings: dict[str, Any], widening: float, scale: tuple[float, float]
    ) -> SequentialClassifier:
        """Return a classifier whose classes and decisions are values of the score, named as the scale has them."""
        cells = np.unique(self.values, return_inverse=True)[1]
        if cells.max() >= 2 * TUNING.n_values:
            edges = np.linspace(self.values.min(), self.values.max(), TUNING.n_values + 1)[1:-1]
            cells = np.unique(np.digitize(self.values, edges), return_inverse=True)[1]
        mass = np.bincount(cells, self.prior)
        value = np.bincount(cells, self.prior * self.values) / mass
        labels = scale[0] + scale[1] * value
        short = labels.round(max(0, 4 - round(math.log10(scale[1]))))
        labels = short if len(set(short)) == len(value) else labels
        tables = [table[:size] for table, size in zip(self.tables, self.n_outcomes.tolist())]
        model = ClassMixture.from_tables(labels, mass, cells, self.prior / mass[cells], tables, feature_names=names)
        model._outcome_words = ItemResponse._outcome_words
        apart = np.abs(value[:, None] - value)
        costs = Costs(0.0 if stop.price is None else stop.price, decision_costs=apart ** (1 + (self.cost == "squared")))
        settings = {"feature_costs": costs, "solver": stop.solver(self, widening)} | settings
        if stop.most is not None and (stop.price is not None or settings.get("rules") is not None):
            settings |= {"max_features": stop.most}
        return SequentialClassifier.from_model(model, **settings)


class _Stop(NamedTuple):
    """When a plan stops, and what it is made by."""

    price: Any
    error: float | None
    most: int | None
    random_state: Any

    def solver(self, states: ScoreStates, widening: float) -> Solver:
        none: dict[str, Any] = dict.fromkeys(("max_rounds", "max_nodes", "certificate_paths"), 0)
        n, by_price = TUNING.n_paths, None
        if self.price is not None:
            by_price = Adaptive([ClassInformation()], n_paths=n, n_cases=n, random_state=self.random_state, **none)
        if self.error is not None:
            return UntilPrecise(states, self.error / widening, self.most, solver=by_price)
        return by_price or FirstK(self.most, rule=ClassInformation(), certificate_paths=0)


def _with_persons(
    persons: IntArray, prior: FloatArray, tables: FloatArray, n_outcomes: IntArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """States of persons beside those of abilities, by how well each tells of others."""
    n, width = len(persons), tables.shape[1]
    shown = _indicators(persons, width)
    joint = _log_likelihood(shown, np.log(np.maximum(tables, LEAST_CHANCE))) + np.log(prior)
    curves = tables @ softmax(joint, axis=1).T
    own = np.arange(width)[:, None] < n_outcomes[:, None, None]
    curves = (1 - TUNING.uniform) * curves + own * TUNING.uniform / n_outcomes[:, None, None]
    known = (persons.T >= 0)[:, None, :]
    parts = [np.where(known, (1 - apart) * shown + apart * curves, curves) for apart in TUNING.apart]
    fits = [logsumexp(joint, axis=1)]
    for part in parts:
        alike = _log_likelihood(shown, np.log(np.maximum(part, LEAST_CHANCE)))
        np.fill_diagonal(alike, -np.inf)
        fits.append(logsumexp(alike, axis=1) - np.log(max(n - 1, 1)))
    weight = mixture_shares(np.array(fits), np.ones(n)) + 1e-9
    weight /= weight.sum()
    whose = np.concatenate([np.full(len(prior), -1), np.tile(np.arange(n), len(parts))])
    prior = np.concatenate([weight[0] * prior, *(np.full(n, share / n) for share in weight[1:])])
    return prior, np.concatenate([tables, *parts], axis=2), whose


def _log_likelihood(shown: FloatArray, logs: FloatArray) -> FloatArray:
    """Of each person's answers in each state, (n, n_states)."""
    return np.asarray(np.tensordot(shown, logs, axes=([0, 1], [0, 1])))


def _keep_aside(states: ScoreStates, persons: IntArray, is_learnt: bool) -> list[tuple[IntArray, ScoreStates]]:
    """Persons with all answers in five parts, and what the others tell of states, and of items that are learnt."""
    whole = np.flatnonzero((persons >= 0).all(axis=1))
    parts: list[tuple[IntArray, ScoreStates]] = []
    for fold in range(TUNING.n_folds if len(whole) >= TUNING.min_persons else 0):
        aside = whole[fold :: TUNING.n_folds]
        if is_learnt:
            others = np.delete(persons, aside, axis=0)
            kept = ScoreStates.learn(_learn_items(others, states.n_outcomes), others, states.target, states.cost)
        else:
            kept = states.without(aside)
        parts.append((aside, kept))
    return parts


def _widen(
    plan: Callable[[ScoreStates], ScorePlan],
    parts: list[tuple[IntArray, ScoreStates]],
    persons: IntArray,
    confidence: float,
) -> float:
    """By what standard errors have to be multiplied, so that intervals hold for persons who were kept aside."""
    apart = []
    for aside, kept in parts:
        score, error = kept.moments(plan(kept)._ask_items(persons[aside])[0])
        true = _fractions(persons[aside], kept.n_outcomes).mean(axis=1)
        apart.append(np.abs(score - true) / np.maximum(error, LEAST_CHANCE))
    ranked = np.sort(np.concatenate(apart))
    rank = min(int(np.ceil((len(ranked) + 1) * confidence)), len(ranked))
    return float(ranked[rank - 1] / stats.norm.ppf((1 + confidence) / 2))


def _fractions(codes: IntArray, n_outcomes: IntArray) -> FloatArray:
    """Outcomes as shares of the highest ones, 0 where missing."""
    return np.asarray(np.maximum(codes, 0) / np.maximum(n_outcomes - 1, 1))


def _weigh_outcomes(tables: FloatArray, n_outcomes: IntArray, power: int) -> FloatArray:
    """Mean of a power of the share of the highest outcome, by item and state."""
    part = np.arange(tables.shape[1])[:, None] / np.maximum(n_outcomes - 1, 1)[:, None, None]
    return np.asarray((part**power * tables).sum(axis=1))


def _medians(share: FloatArray, value: FloatArray) -> FloatArray:
    """Weighted medians, halfway within the weight of each value."""
    order = np.argsort(value, axis=1)
    share, value = np.take_along_axis(share, order, 1), np.take_along_axis(value, order, 1)
    below = share.cumsum(axis=1) - share / 2
    return np.array([np.interp(0.5, at, held) for at, held in zip(below, value)])


def _indicators(codes: IntArray, width: int) -> FloatArray:
    """One where an item showed an outcome, (n_items, width, n)."""
    return np.asarray(codes.T[:, None, :] == np.arange(width)[:, None], dtype=np.float64)
