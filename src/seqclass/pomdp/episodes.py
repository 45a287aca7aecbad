"""Episodes: what cases that are drawn, or come as data, are asked, what is believed on the way, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass._utils.tables import Readable
from seqclass._utils.text import digits_text, range_text, short_repr
from seqclass._utils.validation import check_integer, check_real
from seqclass.pomdp.acquisition import Acquisition, Histories
from seqclass.pomdp.margins import greatest_price, mean_excess, quantile
from seqclass.pomdp.observations import Branches, ObservationSource
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, with_component
from seqclass.pomdp.walk import Level, check_same_questions, next_of, order_next_panel, walk, walk_to_end
from seqclass.pomdp.worlds import (
    AgentLike,
    Asked,
    CaseObservations,
    DrawnCaseSource,
    Game,
    Rows,
    class_numbers,
    game_and_policy,
    game_of,
    outcome_name,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Episodes", "Step", "simulate", "stepthrough"]


class RecordedObservations(ObservationSource):
    """What one case showed before, in the order in which it was asked."""

    def __init__(self, outcomes: IntArray, charge_missing: bool) -> None:
        self.outcomes, self.charge_missing = outcomes, charge_missing

    def branch(self, belief: BeliefState, weight: FloatArray, rows: IntArray) -> Branches:
        """The answer that follows; see `ObservationSource.branch`."""
        return Branches(np.zeros(1, dtype=np.intp), self.outcomes[belief.stage : belief.stage + 1], weight)


@dataclass(frozen=True, eq=False, repr=False)
class Step(Readable):
    """One step of an episode, which unpacks into belief, action and observation.

    Attributes
    ----------
    belief : BeliefState
        What is believed before it, one row.
    action : int
        Number of the question that is asked, -1 (`DECIDE`) to decide.
    observation : int or None
        Outcome that is seen, -1 where it is missing; None where it is decided.
    decision : int or None
        Number of the decision, None where a question is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Lookahead, TableProblem, stepthrough
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> list(stepthrough(problem, Lookahead().solve(problem), case=[0]))
    [<Step: asks feature 0, sees 0>, <Step: decides class 0>]
    """

    belief: BeliefState
    action: int
    observation: int | None
    decision: int | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.belief, self.action, self.observation))

    @property
    def question(self) -> str | None:
        """Name of the question, None where it is decided."""
        return None if self.decision is not None else self.belief.problem.names.question(self.action)

    @property
    def outcome(self) -> str | None:
        """Name of what was seen, None where it is decided."""
        return None if self.observation is None else outcome_name(self.belief.problem, self.action, self.observation)

    def _table(self) -> Any:
        decision = None if self.decision is None else self.belief.problem.names.decisions[self.decision]
        return [{"question": self.question, "observation": self.outcome, "decision": decision}]

    def _summary(self) -> str:
        if self.decision is not None:
            return f"decides {self.belief.problem.names.decisions[self.decision]}"
        return f"asks {self.question}, sees {self.outcome}"


@dataclass(frozen=True, eq=False, repr=False)
class Episodes(Readable):
    """What cases were asked step by step, what was believed and decided, and what it cost.

    Attributes
    ----------
    problem : AcquisitionProblem
        The problem by which was believed and paid.
    policy : Policy
        The policy that asked.
    acquired : Acquisition
        Histories with their beliefs, which cases may share.
    true_class : ndarray of int of shape (n,) or None
        Class of each case; None where rows came without.
    first : BeliefState
        How cases begin.
    start : ndarray of int of shape (n,)
        Row of `first` that each case began with.
    charge_missing : bool
        Whether a question that showed nothing was paid for.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Lookahead, TableProblem, simulate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> episodes = simulate(problem, Lookahead().solve(problem), 1000, random_state=0)
    >>> episodes
    <Episodes: 1,000 cases, cost 0.274 (95%: 0.25 to 0.299), 1.00 questions, 17.4% wrong>
    >>> list(episodes.replay(0))
    [<Step: asks feature 0, sees 0>, <Step: decides class 0>]
    """

    problem: AcquisitionProblem
    policy: Policy
    acquired: Acquisition
    true_class: IntArray | None
    first: BeliefState
    start: IntArray
    charge_missing: bool = False

    def __len__(self) -> int:
        return len(self.acquired.leaf)

    def _summary(self) -> str:
        text = f"{len(self):,} case{'' if len(self) == 1 else 's'}"
        if len(self):
            text += f", cost {digits_text(self.cost.mean())}"
            if len(self) > 1:
                low, high = self.interval()
                text += f" (95%: {range_text((low, high), digits_text)})"
            text += f", {self.n_questions.mean():.2f} questions"
            if self.true_class is not None:
                wrong = (self.decision != self.true_class) & (self.decision < self.problem.n_classes)
                text += f", {wrong.mean():.1%} wrong"
        return text

    @property
    def decision(self) -> IntArray:
        """Number of the decision, (n,)."""
        return self.acquired.leaf_decision[self.acquired.leaf]

    @property
    def paid(self) -> FloatArray:
        """Prices paid, (n,)."""
        return self.acquired.leaf_price[self.acquired.leaf]

    @property
    def n_questions(self) -> IntArray:
        """Number of questions asked, (n,)."""
        return np.asarray((self.acquired.leaf_question >= 0).sum(axis=1)[self.acquired.leaf])

    @property
    def cost(self) -> FloatArray:
        """Prices paid plus what the decision costs, (n,): given the true class, or where there is none as believed."""
        costs = self.problem.decision_costs
        if self.true_class is not None:
            return self.paid + costs[self.true_class, self.decision]
        believed = (self.acquired.leaf_belief * costs[:, self.acquired.leaf_decision].T).sum(axis=1)
        return np.asarray(self.paid + believed[self.acquired.leaf])

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the ends of a confidence interval of the mean cost.

        It is by the normal distribution, corrected for skewness, and allows for one case more that may have been
        missed: one that buys everything and is decided in the dearest way. So where such a decision costs a thousand
        times what most cases do, the interval of a thousand cases is wide on that side.

        Parameters
        ----------
        confidence : float
            Its coverage, between 0 and 1.

        Returns
        -------
        lower, upper : float
            NaN of a single episode.
        """
        check_real(confidence, "confidence", 0.0, 1.0)
        cost = self.cost
        if len(cost) < 2 or confidence == 1:
            return (np.nan, np.nan) if len(cost) < 2 else (-np.inf, np.inf)
        z, mean, costs = quantile(confidence), float(cost.mean()), self.problem.decision_costs
        least, greatest = float(costs.min()), greatest_price(self.problem) + float(costs.max())
        low, high = mean - mean_excess(cost, least, z), mean + mean_excess(-cost, -greatest, z)
        return max(low, least), min(high, greatest)

    def to_frame(self) -> pd.DataFrame:
        """Return the episodes as a data frame, a row a step; the last step of a case decides.

        Returns
        -------
        pandas.DataFrame
            ``case``, ``step``; for each class ``P(class)``, what is believed before the step; ``question`` and
            ``observation`` by name, None at the last step; ``paid``, all prices up to this step's; ``decision``, None
            but at the last step; ``true_class``, if known.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import Lookahead, TableProblem, simulate
        >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
        >>> frame = simulate(problem, Lookahead().solve(problem), 2, true_class=1, random_state=0).to_frame()
        >>> print(frame[["case", "P(class 1)", "question", "observation", "decision", "paid"]].round(3).fillna(""))
           case  P(class 1)   question observation decision  paid
        0     0       0.500  feature 0           1            0.1
        1     0       0.889                         class 1   0.1
        2     1       0.500  feature 0           1            0.1
        3     1       0.889                         class 1   0.1
        """
        return super().to_frame()

    def _table(self) -> Any:
        acquired, names = self.acquired, self.problem.names
        beliefs, spent = acquired.leaf_beliefs, acquired.leaf_spent
        assert beliefs is not None and spent is not None  # noqa: PT018 - they are recorded
        if not len(self):
            beliefs = np.empty((0, 1, self.problem.n_classes))
        rows = self.n_questions + 1
        case = np.repeat(np.arange(len(self)), rows)
        step: IntArray = np.arange(len(case)) - np.repeat(rows.cumsum() - rows, rows)
        leaf, last = acquired.leaf[case], step == rows[case] - 1
        at = np.where(last, -1, step)
        question, outcome = (
            np.column_stack([values, np.full(len(values), -1)])[leaf, at]
            for values in (acquired.leaf_question, acquired.leaf_outcome)
        )
        values, place = np.unique(outcome, return_inverse=True)
        code, inverse = np.unique(question * len(values) + place.reshape(-1), return_inverse=True)
        pairs = [(c // len(values), int(values[c % len(values)])) for c in code.tolist()]
        shown = [None if asked < 0 else outcome_name(self.problem, asked, value) for asked, value in pairs]
        columns: dict[str, Any] = {"case": case, "step": step}
        for k, name in enumerate(names.classes):
            columns[f"P({name})"] = beliefs[leaf, step, k]
        columns["question"] = _name_numbers(names.questions, question)
        columns["observation"] = np.array(shown, dtype=object)[inverse.reshape(-1)]
        columns["paid"] = spent[leaf, step + ~last]
        columns["decision"] = _name_numbers(names.decisions, np.where(last, self.decision[case], -1))
        if self.true_class is not None:
            columns["true_class"] = _name_numbers(names.classes, self.true_class[case])
        return columns

    def replay(self, case: int) -> Iterator[Step]:
        """Go through an episode once more, step by step.

        Parameters
        ----------
        case : int
            Its number.

        Returns
        -------
        iterator of Step

        Raises
        ------
        ValueError
            If there is no such case.
        """
        leaf = int(self.acquired.leaf[check_integer(case, "case", 0, len(self) - 1)])
        asked, outcomes = self.acquired.leaf_question[leaf], self.acquired.leaf_outcome[leaf]
        asked = np.append(asked, DECIDE)

        def ask(level: Level) -> IntArray:
            level.belief = order_next_panel(self.policy, level.belief)
            return asked[level.stage : level.stage + 1].astype(np.intp)

        first = self.first[self.start[[case]]]
        return _steps(self.policy, first, ask, RecordedObservations(outcomes, self.charge_missing))


def _name_numbers(names: list[str], number: IntArray) -> npt.NDArray[Any]:
    """Names by number, None for -1."""
    return np.array([*names, None], dtype=object)[number]


def _steps(
    policy: Policy, belief: BeliefState, ask: Callable[[Level], IntArray], answers: ObservationSource
) -> Iterator[Step]:
    """The steps of one case; each is known once the next one has begun."""
    last: Level | None = None
    for level in walk(belief, np.ones(1), ask, answers):
        if last is not None:
            yield Step(last.belief, int(last.question[0]), int(level.outcome[0]))
        last = level
    assert last is not None
    yield Step(last.belief, DECIDE, None, int(policy.problem.decide(last.belief.probabilities)[0]))


def _start(
    problem: Game, policy: Asked, n: int | None, observations: Any, true_class: Any, world: Any, random_state: Any
) -> tuple[Policy, BeliefState, IntArray, CaseObservations, IntArray | None]:
    """The policy, how cases begin, the start of each, who answers, and the classes, if they are known."""
    (problem, agent, policy), rng = game_and_policy(problem, policy), as_generator(random_state)
    if observations is not None and world is not None:
        raise ValueError("world and observations say both what cases show: leave one of them out.")
    label = None if true_class is None else class_numbers(problem, agent, true_class)
    if n is not None:
        check_integer(n, "n", 0)
    several = None if label is None or np.ndim(true_class) == 0 else len(label)
    shape = getattr(observations, "shape", None)
    n_rows = None if observations is None else int(shape[0]) if shape else len(observations)
    sizes = {"n": n, "observations": n_rows, "true_class": several}
    known = {name: size for name, size in sizes.items() if size is not None}
    if len(set(known.values())) > 1:
        counts = ", ".join(f"{size} by {name}" for name, size in known.items())
        raise ValueError(f"the number of cases must be the same wherever it is told; it is {counts}.")
    n = next(iter(known.values()), 1)
    label = None if label is None else np.array(np.broadcast_to(label, n))
    check_same_questions(problem, policy)
    source: DrawnCaseSource | Rows
    if observations is not None:
        source = Rows(problem, agent, observations, n, label, policy)
        start = source.begin(np.arange(n), rng, np.arange(n))
        first = source.first
    else:
        source = DrawnCaseSource(problem, world, n, agent)
        if label is not None:
            source.fixed = label
        start, label = source.begin(np.arange(n), rng), source.label
        components, probability = policy.initial_belief()
        lot = rng.choice(len(components), n, p=probability) if len(components) > 1 else 0
        pairs, start = np.unique(start * len(components) + lot, return_inverse=True)
        component = components.account.component
        component = None if component is None else component[pairs % len(components)]
        first = with_component(source.first[pairs // len(components)], component)
    return policy, first, start.reshape(-1), CaseObservations(source, start.reshape(-1), rng), label


def simulate(
    problem: Game,
    policy: Asked = None,
    n: int | None = None,
    *,
    observations: Any = None,
    true_class: Any = None,
    world: Any = None,
    random_state: Any = None,
) -> Episodes:
    """Run a policy on cases that are drawn, or that come as data, and keep every step.

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        By what is believed and paid.
    policy : Policy or callable, optional
        What to ask: a policy, or a function as for `FunctionPolicy`; by default that of the classifier.
    n : int, optional
        Number of cases; by default as many as ``observations`` or ``true_class`` have, or one.
    observations : array-like of shape (n, n_features), optional
        What cases show, in place of what is drawn: for a classifier rows as it was fitted to; for a problem outcomes by
        feature, -1 where missing, or a frame or dicts with a column for each question, by name, of outcomes or their
        names, others being missing.
    true_class : int, label or array-like of shape (n,), optional
        The class of all cases, or of each: numbers or names of a problem's classes, labels of a classifier's. By
        default it is drawn from the prior, and with ``observations`` it is not known.
    world : AcquisitionProblem, observation model or fitted classifier, optional
        Where cases come from, if that is another one than is believed: its prior, and how likely it makes what cases
        show. It has the same questions and outcomes; prices and decision costs are those of ``problem``.
    random_state : int, generator or None
        Seed of what is drawn.

    Returns
    -------
    Episodes

    Raises
    ------
    TypeError
        If ``problem``, ``policy`` or ``world`` is something else.
    ValueError
        If numbers of cases differ, ``world`` has other classes, questions or outcomes, or a case shows what the problem
        holds for impossible.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Lookahead, TableProblem, simulate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = Lookahead().solve(problem)
    >>> world = problem.replace(prior=np.array([0.9, 0.1]), likelihoods=np.array([[[0.6, 0.4], [0.4, 0.6]]]))
    >>> simulate(problem, policy, 10_000, world=world, random_state=0)
    <Episodes: 10,000 cases, cost 0.505 (95%: 0.495 to 0.515), 1.00 questions, 40.5% wrong>
    """
    policy, first, start, answers, label = _start(problem, policy, n, observations, true_class, world, random_state)
    tree = Histories(policy, answers, True, False)
    walk_to_end(first, np.zeros(len(first)), tree.ask, answers)
    return Episodes(first.problem, policy, tree.result(), label, first, start, answers.charge_missing)


def stepthrough(
    problem: Game,
    policy: Asked = None,
    *,
    case: Any = None,
    true_class: Any = None,
    world: Any = None,
    random_state: Any = None,
) -> Iterator[Step]:
    """Go through one case step by step: what is believed, what is asked, and what is seen.

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        By what is believed and paid.
    policy : Policy or callable, optional
        What to ask; by default that of the classifier.
    case : array-like of shape (n_features,), mapping or one row, optional
        What the case shows, as one row of ``observations`` of `simulate`; or outcomes by number or name of the
        question, of which others are missing. By default it is drawn.
    true_class : int or label, optional
        Class of the case, if it is drawn.
    world : AcquisitionProblem, observation model or fitted classifier, optional
        Where the case comes from; see `simulate`.
    random_state : int, generator or None
        Seed of what is drawn.

    Returns
    -------
    iterator of Step
        Each unpacks into belief, action (number of the question, -1 to decide) and observation (its outcome).

    Raises
    ------
    TypeError, ValueError
        As `simulate` does.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Lookahead, TableProblem, stepthrough
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> for belief, action, observation in stepthrough(problem, Lookahead().solve(problem), case=[1]):
    ...     print(belief.probabilities.round(3), action, observation)
    [[0.5 0.5]] 0 1
    [[0.111 0.889]] -1 None
    """
    observations = None if case is None else _one_row(*game_of(problem), case)
    policy, first, start, answers, _ = _start(problem, policy, 1, observations, true_class, world, random_state)
    return _steps(policy, first[start], lambda level: next_of(policy, level), answers)


def _one_row(problem: AcquisitionProblem, agent: AgentLike | None, case: Any) -> Any:
    """One case as a table of one row."""
    if hasattr(case, "to_frame") and np.ndim(case) == 1:  # a row of a data frame
        return case.to_frame().T.infer_objects()
    if isinstance(case, Mapping):
        return [case] if agent is None else _row_of_columns(agent, case)
    return case if np.ndim(case) == 2 else np.asarray(case)[None]


def _row_of_columns(agent: AgentLike, case: Mapping[Any, Any]) -> Any:
    """One row as a classifier was fitted to, of which what is not there is missing."""
    import pandas as pd

    names = range(agent.n_features) if agent.feature_names is None else agent.feature_names.tolist()
    if unknown := [key for key in case if key not in names]:
        raise ValueError(f"case has {short_repr(unknown[0])}, which is no column of the fit.")
    frame = pd.DataFrame({name: [case.get(name, np.nan)] for name in names})
    return frame.to_numpy() if agent.feature_names is None else frame
