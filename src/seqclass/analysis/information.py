"""What information is worth, as health economics counts it: knowing the class, each question, pairs, and a policy."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.tables import Readable
from seqclass._utils.text import money
from seqclass._utils.validation import check_choice, check_distribution, check_integer, check_real, in_order
from seqclass.analysis._walk import MAX_HISTORIES, Level, Simulation, collect, ratio
from seqclass.pomdp import Policy
from seqclass.pomdp.one_step import initial_beliefs, one_step_costs, perfect_cost
from seqclass.pomdp.policy import as_policy
from seqclass.pomdp.problem import OPEN, AcquisitionProblem, BeliefState, deciding_cost, observations, set_question
from seqclass.pomdp.solvers.base import without_certificate
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.table_problem import in_any_order
from seqclass.pomdp.walk import ALL
from seqclass.pomdp.worlds import Asked, Game, game_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class ValueOfInformation(Readable):
    """What information is worth to a case, in the unit of the decision costs; arrays have one entry a question.

    Attributes
    ----------
    names : tuple of str
        Name of each question.
    stopping_cost : float
        Expected cost of the best decision at once.
    perfect : float
        EVPI, the expected value of perfect information: how much less it would cost to decide if the class were known.
    price, value : ndarray of shape (n_questions,)
        Price of each question, and its expected value if it is asked alone before deciding; NaN if it cannot be asked.
    pairs : ndarray of int of shape (n_pairs, 2)
        Pairs of questions, by their numbers.
    pair_price, pair_value : ndarray of shape (n_pairs,)
        Price of both, discounts included, and their expected value together; NaN if only one may be asked.
    n_possible_pairs : int
        How many pairs there are, of which `pairs` has those of the questions that are worth most alone.
    asked : ndarray of shape (n_questions,)
        Probability that the policy asks each question.
    value_when_asked : ndarray of shape (n_questions,)
        Expected value of each among cases in which the policy asks it, where it stands; NaN if it never does.
    value_std_error : ndarray of shape (n_questions,)
        Standard error of `value_when_asked`; 0 if exact.
    policy_price, policy_net, policy_std_error : float
        Prices that the policy is expected to pay; expected cost of deciding at once less that of the policy, prices
        included; and the standard error of the latter, 0 if exact.
    method : str
        How the policy was followed, ``"exact"`` or ``"simulation"``.
    population : float or None
        By how much values of a case are multiplied to be those of the population; None if it was not said.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> tests = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
    >>> print(value_of_information(TableProblem([0.5, 0.5], tests, prices=0.1, any_order=True)))
    Deciding at once costs 0.5; perfect information is worth 0.5 (EVPI).
    Alone 1 of 2 questions is worth more than the price, most of all feature 0: 0.35 for 0.1, net 0.25.
    Along the policy: 0.35 for 0.1, net 0.25 (exact).
    """

    _costs = ("value", "net", "value_when_asked", "value_std_error", "synergy", "std_error", "population_net")

    names: tuple[str, ...]
    stopping_cost: float
    perfect: float
    price: FloatArray
    value: FloatArray
    pairs: IntArray
    pair_price: FloatArray
    pair_value: FloatArray
    n_possible_pairs: int
    asked: FloatArray
    value_when_asked: FloatArray
    value_std_error: FloatArray
    policy_price: float
    policy_net: float
    policy_std_error: float
    method: str
    population: float | None = None

    @property
    def net(self) -> FloatArray:
        """Value of each question alone less its price, (n_questions,)."""
        return np.asarray(self.value - self.price)

    @property
    def policy_value(self) -> float:
        """What the policy is expected to save on decisions, its prices not yet paid."""
        return self.policy_net + self.policy_price

    def __str__(self) -> str:
        net = self.net
        pays, known = int((net > 0).sum()), int(np.isfinite(net).sum())
        asks = f"{known:,} question{'' if known == 1 else 's'}"
        lines = [
            f"Deciding at once costs {money(self.stopping_cost)}; perfect information is worth {money(self.perfect)} "
            "(EVPI).",
            f"Alone {pays:,} of {asks} {'is' if pays == 1 else 'are'} worth more than the price",
        ]
        if known:
            best = int(np.nanargmax(net))
            lines[1] += f", {'most of all' if pays else 'nearest is'} {self.names[best]}: "
            lines[1] += f"{money(self.value[best])} for {money(self.price[best])}, net {money(net[best])}"
        how = "exact" if self.method == "exact" else f"standard error {self.policy_std_error:.2g}"
        along = f"{money(self.policy_value)} for {money(self.policy_price)}, net {money(self.policy_net)} ({how})"
        many = "" if self.population is None else f"; times {self.population:,.6g}: {self._many(self.policy_net):,.6g}"
        return f"{lines[0]}\n{lines[1]}.\nAlong the policy: {along}{many}."

    def _many(self, value: Any) -> Any:
        return value * (1.0 if self.population is None else self.population)

    def to_frame(self, of: str = "questions") -> pd.DataFrame:
        """Return the figures as a data frame, what is worth most for its price first.

        Parameters
        ----------
        of : {"questions", "pairs", "summary"}
            A row for each question; for each pair, whose ``synergy`` is its value less those of the two alone; or one
            for perfect information and one for the policy.

        Returns
        -------
        pandas.DataFrame
            With a population there is a column ``population_net``: net value times the population.
        """
        import pandas as pd

        check_choice(of, "of", ("questions", "pairs", "summary"))
        names: dict[str, Any] = {"question": list(self.names)}
        price, value, (first, second) = self.price, self.value, self.pairs.T
        rest = {n: getattr(self, n) for n in ("asked", "value_when_asked", "value_std_error")}
        if of == "pairs":
            names = {key: [self.names[q] for q in at] for key, at in (("question", first), ("other", second))}
            price, value = self.pair_price, self.pair_value
            rest = {"synergy": value - self.value[first] - self.value[second]}
        elif of == "summary":
            names, rest = {"information": ["perfect", "policy"]}, {"std_error": np.array([0.0, self.policy_std_error])}
            price, value = np.array([[0.0, self.policy_price], [self.perfect, self.policy_value]])
        net = value - price
        columns = {**names, "price": price, "value": value, "net": net, **rest}
        if self.population is not None:
            columns["population_net"] = self._many(net)
        order = np.arange(2) if of == "summary" else np.argsort(-net, kind="stable")
        return self._with_units(pd.DataFrame(columns).take(order).reset_index(drop=True))

    def plot(self, ax: Any = None, **settings: Any) -> Any:
        """Draw value against price: `seqclass.plots.ValueOfInformationDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to the display's ``plot``, such as ``title``.

        Returns
        -------
        ValueOfInformationDisplay
        """
        return importlib.import_module("seqclass.plots").ValueOfInformationDisplay(self).plot(ax, **settings)


def value_of_information(
    problem: Game,
    policy: Asked = None,
    *,
    belief: BeliefState | npt.ArrayLike | None = None,
    max_pairs: int = 300,
    population: float | None = None,
    periods: float = 1.0,
    discount: float = 0.0,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> ValueOfInformation:
    """Compute what it is worth to know the class, to ask each question alone, each pair, and to follow a policy.

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        What may be asked at what price, and what decisions cost.
    policy : Policy or callable, optional
        The policy, or a function of the belief; by default that of the classifier, or of a problem what its default
        solver finds.
    belief : BeliefState or array-like of shape (n_classes,), optional
        What is known: a belief, or probabilities of the classes when nothing has been asked, for which the policy is
        then planned if none is given. Of a batch of cases all figures are means. By default, how cases begin.
    max_pairs : int
        Most pairs to work out, exactly, by the joint likelihood of their answers. If there are more, they are those of
        the questions that are worth most alone; 0 leaves pairs out.
    population : float, optional
        Cases in each period; by default figures are for one case alone.
    periods : float
        Number of periods, such as years, for which the decision stands.
    discount : float
        Discount rate per period. As in the R package voi [3]_, cases are discounted continuously: they count
        ``population * (1 - exp(-discount * periods)) / discount``, or ``population * periods`` without a discount.
    method, n_paths, max_histories, random_state
        How the policy is followed; see `reachable_beliefs`.

    Returns
    -------
    ValueOfInformation

    Raises
    ------
    ValueError
        If a parameter is out of range, or ``belief`` is of another problem.

    Notes
    -----
    With net benefit NB(d, class) = -cost of decision d, the definitions are those of [1]_, [2]_ and [3]_. Perfect
    information about the class is worth EVPI = E max_d NB - max_d E NB = g(b) - E min_d cost(d, class), where
    g(b) = min_d E cost(d, class). A question is a sample of size one: EVSI = E max_d E(NB | answer) - max_d E NB =
    g(b) - E g(b after the answer), which does not include its price. A policy's net value is g(b) less its expected
    cost, prices included (as the expected net benefit of sampling). None exceeds EVPI. Values alone do not add up.

    In a fixed order the value alone is that of a question asked next, the others left out, wherever it stands. A
    question that a case cannot be asked any more adds nothing for it.

    References
    ----------
    .. [1] H. Raiffa and R. Schlaifer, *Applied Statistical Decision Theory*, Harvard, 1961.
    .. [2] A. Briggs, M. Sculpher and K. Claxton, *Decision Modelling for Health Economic Evaluation*, Oxford, 2006.
    .. [3] C. Jackson et al., voi: Expected Value of Information, R package, functions ``evpi``, ``evsi``, ``pop_voi``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> tests = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
    >>> problem = TableProblem([0.5, 0.5], tests, prices=0.1, any_order=True)
    >>> values = value_of_information(problem, belief=[0.8, 0.2], population=1000, periods=5, discount=0.035)
    >>> values.value.round(3), round(values.population)
    (array([0.08, 0.  ]), 4587)
    """
    problem, agent = game_of(problem)
    planned: Policy | None = None if agent is None else agent.policy
    planned = planned if policy is None else as_policy(policy, problem)
    check_integer(max_pairs, "max_pairs", 0)
    simulation = Simulation(method, n_paths, max_histories, random_state)
    many = None if population is None else _n_cases(population, periods, discount)
    if belief is not None and not isinstance(belief, BeliefState):
        named = in_order(belief, "belief", problem.names.classes)
        probability = check_distribution(named, problem.n_classes, "belief")
        if planned is None:  # it is planned for these cases, not for those of the prior
            problem = problem.replace(prior=probability)
        belief = problem.initial_belief().replace(probabilities=probability[None])
    first, weight = _first(problem, belief)
    if planned is None:
        planned = without_certificate(default_solver(problem, random_state)).solve(problem)
    now = float(weight @ deciding_cost(first))
    free = _in_any_order(first)
    after, price, known = _ask_each(free, weight)
    value = np.where(known, np.maximum(now - after, 0.0), np.nan)
    pairs, pair_price, pair_value = _pairs(free, weight, now, np.where(known, value, -1.0), max_pairs)
    spent, n_questions = float(weight @ first.spent), problem.n_questions
    summarise = partial(_sum_costs_and_gains, n_questions=n_questions, spent=spent)
    along, how = collect(first.problem, planned, summarise, simulation, (first, weight))
    n = np.inf if how == "exact" else float(n_paths)
    (paid, cost, squares), (asked, total, square) = along
    mean = ratio(total, asked)
    return ValueOfInformation(
        names=tuple(problem.names.questions),
        stopping_cost=now,
        perfect=max(now - float(weight @ (first.probabilities @ perfect_cost(first.problem))), 0.0),
        price=np.where(known, price, np.nan),
        value=value,
        pairs=pairs,
        pair_price=pair_price,
        pair_value=pair_value,
        n_possible_pairs=n_questions * (n_questions - 1) // 2,
        asked=asked,
        value_when_asked=mean,
        value_std_error=_std_error(mean, ratio(square, asked), np.maximum(asked, 1 / n_paths) * n),
        policy_price=paid,
        policy_net=now - cost,
        policy_std_error=float(_std_error(cost, squares, n)),
        method=how,
        population=many,
    )


def _n_cases(population: float, periods: float, discount: float) -> float:
    cases, lasts = check_real(population, "population", 0), check_real(periods, "periods", 0)
    rate = check_real(discount, "discount", 0)
    return cases * (lasts if rate == 0 else float(-np.expm1(-rate * lasts)) / rate)


def _first(problem: AcquisitionProblem, belief: BeliefState | None) -> tuple[BeliefState, FloatArray]:
    """The cases that are meant, and the share of each."""
    if belief is None:
        return initial_beliefs(problem)
    if not len(belief) or belief.problem.n_questions != problem.n_questions:
        raise ValueError("belief must be about at least one case of this problem: see problem.initial_belief().")
    return belief, np.full(len(belief), 1 / len(belief))


def _in_any_order(belief: BeliefState) -> BeliefState:
    """Cases where any question not yet asked may come next, if the problem can be asked so."""
    problem = belief.problem
    if problem.any_order:
        return belief
    try:
        free = in_any_order(problem)
    except ValueError:  # its contexts belong to its order: only what comes next has a value here
        return belief
    observed = observations(free.initial_belief(len(belief)))
    observed[:, : belief.stage] = -1  # what was seen is in the state
    if belief._early is not None:
        observed[belief._early != OPEN] = -1
    return BeliefState(free, belief.stage, belief.probabilities, belief.state, belief.account, observed=observed)


def _ask_each(belief: BeliefState, weight: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Expected cost of deciding after each question alone, its mean price, and whether any case can be asked it."""
    can = belief.available
    prices = np.broadcast_to(belief.prices, can.shape)
    after = np.where(can, one_step_costs(belief) - prices, deciding_cost(belief)[:, None])
    return weight @ after, weight @ np.where(can, prices, 0.0), np.asarray(can.any(axis=0))


def _pairs(
    belief: BeliefState, weight: FloatArray, now: float, value: FloatArray, max_pairs: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Pairs of the questions that are worth most, their prices and values."""
    problem, n = belief.problem, int((1 + np.sqrt(1 + 8 * max_pairs)) // 2)
    able = [q for q in np.argsort(-value, kind="stable").tolist() if not problem.structure.is_sampled(q)]
    chosen = np.sort(np.array([q for q in able if value[q] >= 0][: n if max_pairs else 0], dtype=np.intp))
    shape = (problem.n_questions,) * 2
    prices, values = np.full(shape, np.nan), np.full(shape, np.nan)
    for q in chosen.tolist():
        can = belief.available[:, q]
        asked, rows = np.flatnonzero(can), np.flatnonzero(~can)
        part = set_question(belief[asked], q)
        branches = ALL.branch(part, weight[asked], asked)
        later = part.update(branches.outcome, rows=branches.parent)
        after, price, known = _ask_each(later, branches.weight)
        other_after, other_price, _ = _ask_each(belief[rows], weight[rows])
        own = np.broadcast_to(belief.prices, belief.available.shape)[asked, q]
        values[q] = np.where(known, np.maximum(now - after - other_after, 0.0), np.nan)
        prices[q] = np.where(known, weight[asked] @ own + price + other_price, np.nan)
    pairs = np.array([*itertools.combinations(chosen.tolist(), 2)], dtype=np.intp).reshape(-1, 2)
    first, second = pairs.T
    price = np.fmin(prices[first, second], prices[second, first])
    if (visits := problem.visits) is not None and visits.max_panel != 1:  # ordered in one visit
        both = np.zeros((len(pairs), problem.n_questions), dtype=bool)
        both[np.arange(len(pairs)), first] = both[np.arange(len(pairs)), second] = True
        price = price - visits.single_costs[first] - visits.single_costs[second] + visits.panel_costs(both)
    return pairs, price, values[first, second]


def _sum_costs_and_gains(levels: Iterable[Level], n_questions: int, spent: float) -> tuple[list[float], FloatArray]:
    """Prices, cost and its square along a policy; and of each question the weight, the value and its square."""
    costs, questions = np.zeros(3), np.zeros((3, n_questions))
    for level in levels:
        belief, weight, stop = level.belief, level.weight, ~level.go_on
        decide, paid = deciding_cost(belief), belief.spent - spent
        costs += np.array([paid, paid + decide, (paid + decide) ** 2])[:, stop] @ weight[stop]
        for q in np.unique(level.question[~stop]).tolist():
            rows = np.flatnonzero(level.question == q)
            gain = decide[rows] - belief.problem.structure.costs_after(np.array([q]), belief[rows])[:, 0]
            questions[:, q] += np.array([np.ones(len(rows)), gain, gain**2]) @ weight[rows]
    return costs.tolist(), questions


def _std_error(mean: Any, square: Any, n: Any) -> Any:
    """Standard error of a mean of so many draws, by the mean of their squares; 0 where n is infinite."""
    return np.sqrt(np.maximum(square - mean**2, 0.0) / n)
