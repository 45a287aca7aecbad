"""Solvers of correlated questions: values of a simpler process, corrected by regression on all that is remembered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsmr
from sklearn.base import clone

from seqclass._utils.arrays import CACHE_BYTES, BoolArray, FloatArray, IntArray, as_generator, chunks, row_sums
from seqclass._utils.stored import require, require_list
from seqclass.pomdp.account import planned_prices, price_of_question
from seqclass.pomdp.alpha import ALWAYS, sample_states
from seqclass.pomdp.needs import require_fixed_order
from seqclass.pomdp.one_step import perfect_information_bound, stopping_is_certain, stopping_threshold
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy, with_info
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, outcome_likelihood
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.solvers.fitted import FittedValueIteration, solve_ridge, solve_scaled_ridge
from seqclass.pomdp.solvers.grid import GridValueIteration
from seqclass.pomdp.solvers.ordering.adaptive import Adaptive
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.solvers.simple import Lookahead
from seqclass.pomdp.values import ProjectedValues, ValueFunction

__all__ = ["BoundedLookaheadPolicy", "CorrectedValues", "ProjectedValueIteration"]


@dataclass(frozen=True)
class CorrectionTuning:
    """How values are corrected for the answers that a projection does not remember."""

    #: Penalty, as a share of the mean square of a column.
    ridge: float = 1e-4
    #: Up to so many columns an answer may change the cost class by class; beyond there is too little to fit.
    max_columns: int = 400
    #: Up to so many columns the regression is solved directly, which takes their cube.
    max_direct: int = 1200
    #: Steps beyond, which many bins bring: other weights, by which policies cost no more.
    n_steps: int = 100
    #: From this share of entries on that are not zero, products of dense matrices are quicker than of sparse ones.
    dense_share: float = 0.1
    #: Share of the cases that come to a stage: later ones are corrected by the projection alone.
    min_reach: float = 1e-4
    #: The same with more than two classes, whose functions are fitted anew and need less.
    min_reach_of_many: float = 1e-3


_TUNING = CorrectionTuning()


#: States of one stage, in lots that were sampled in different ways.
Lots = list[BeliefState]


class CostsAhead(NamedTuple):
    """What follows each outcome of each state.

    Attributes
    ----------
    belief : ndarray of shape (n * n_outcomes, n_classes)
        Unnormalised beliefs.
    stop, plain, go_on : ndarray of shape (n * n_outcomes,)
        Cost of stopping, the projection's of going on and the corrected one.
    """

    belief: FloatArray
    stop: FloatArray
    plain: FloatArray
    go_on: FloatArray

    @property
    def value(self) -> FloatArray:
        """The lower of stopping and going on."""
        return np.minimum(self.stop, self.go_on)


class CorrectedValues(ProjectedValues):
    """Values of a projection plus a correction for the answers that it does not remember.

    The cost of going on is ``J(b) + sum_f w_f(z_f) . psi(b)``: ``J`` is the projection's, ``z_f`` the answer to an
    earlier question that what is to come depends on, and ``psi(b)`` holds functions that scale with the belief: the
    stopping cost, ``J`` itself and, where they are few enough, the belief's components. An answer that was missing
    corrects nothing.

    F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares approach",
    Review of Financial Studies 14, 2001; M. B. Haugh and L. Kogan, "Pricing American options: a duality approach",
    Operations Research 52, 2004.
    """

    def __init__(self, problem: AcquisitionProblem, steering: ProjectedValues) -> None:
        super().__init__(problem, steering.projection, steering.values)
        #: Of each stage the weights (1 + n_answers, n_codes, n_functions), the first for every row, or None.
        self.weights: list[FloatArray | None] = [None] * self.n_stages

    @property
    def size(self) -> int:
        """Number of vectors or grid values and of weights."""
        return super().size + sum(w.size for w in self.weights if w is not None)

    def successor_values(self, belief: BeliefState) -> FloatArray:
        """Value of each unnormalised successor of the next feature, (n, n_outcomes)."""
        if (
            not self.is_corrected(belief.stage + 1)
            or self.problem.structure.answers(belief.stage, belief.state) is None
        ):
            return super().successor_values(belief)
        return self.costs_ahead(belief).value.reshape(len(belief), -1)

    def costs_ahead(self, belief: BeliefState) -> CostsAhead:
        """What stopping and going on cost after each outcome of each row, row by row."""
        n, n_outcomes, n_classes = belief.joint.shape
        answers = self.problem.structure.answers(belief.stage, belief.state)
        assert answers is not None  # corrections are made of them
        after = self.problem.structure.successor_answers(belief.stage, answers).reshape(n * n_outcomes, -1)
        posterior, context = belief.joint.reshape(-1, n_classes), self._successors(belief)
        if belief.stage + 1 < self.n_stages:
            return CostsAhead(posterior, *self.costs(belief.stage + 1, posterior, context, after))
        stop = self.problem.stopping_cost(posterior)
        return CostsAhead(posterior, stop, stop, stop)

    def going_on(self, stage: int, belief: FloatArray, context: IntArray, answers: IntArray) -> FloatArray:
        """Corrected cost of going on, (n,); never below the price and what remains when the class is known."""
        return self.costs(stage, belief, context, answers)[2]

    def costs(
        self, stage: int, belief: FloatArray, context: IntArray, answers: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cost of stopping, the projection's cost of going on, and the corrected one as of `going_on`, each (n,)."""
        stop, plain = self._costs_by_projection(stage, belief, context)
        weights = self.weights[stage]
        if weights is None:
            return stop, plain, plain
        # where answers are many they change the last two functions' share only
        used = slice(None if weights[1:, :, :-2].any() else -2, None)
        total = _sum_of_answers(weights[1:, :, used], answers)
        total += weights[0, 0, used]
        shares = belief * total[:, :-2] if total.shape[1] > 2 else belief * weights[0, 0, :-2]
        go_on = plain + row_sums(shares) + stop * total[:, -2] + np.minimum(plain, stop) * total[:, -1]
        return stop, plain, np.asarray(np.maximum(go_on, self.least_cost(stage, belief)))

    def least_cost(self, stage: int, belief: FloatArray) -> FloatArray:
        """Price of a stage and what remains when the class is then known, (n,)."""
        return np.asarray(belief @ perfect_information_bound(self.problem, stage))

    def is_corrected(self, stage: int) -> bool:
        """Whether the values of a stage are corrected."""
        return stage < self.n_stages and self.weights[stage] is not None

    def answers_after(self, stage: int, answers: IntArray, outcome: IntArray) -> IntArray:
        """What `answers` of the problem gives at the next stage, after one outcome of each row."""
        sources = self._sources.get(stage)  # read once: from Python 3.12 on, threads may each make a dictionary
        if sources is None:
            sources = self._sources[stage] = self._find_sources(stage, answers)
        # answer by answer, as they are read
        after: IntArray = np.empty((len(sources), len(answers)), dtype=answers.dtype)
        for row, source in zip(after, sources):
            row[:] = answers[:, source] if source < answers.shape[1] else outcome
        return np.asarray(after.T)

    @cached_property
    def _sources(self) -> dict[int, IntArray]:
        return {}

    def _find_sources(self, stage: int, answers: IntArray) -> IntArray:
        """Where each answer of the next stage comes from: an answer before, or the outcome, which counts last."""
        m = answers.shape[1]
        # unit rows and outcome 0: an answer that stays shows which one it is
        after = self.problem.structure.successor_answers(stage, np.eye(m, dtype=answers.dtype))[:, 0]
        return np.where(after.any(axis=0), after.argmax(axis=0) if m else 0, m)

    def fit(
        self, states: list[list[BeliefState]], refine: Callable[[int, Lots, list[CostsAhead]], None] | None = None
    ) -> CorrectedValues:
        """Fit the corrections backward over stages.

        Values of the projection that are `FittedValues` are fitted anew on the way, at these states.
        """
        n_codes = int(self.problem.n_outcomes.max(initial=1)) + 1
        for stage in reversed(range(1, self.n_stages)):
            lots = [lot[stage] for lot in states if stage < len(lot) and len(lot[stage])]
            if not lots:
                continue
            ahead = [self.costs_ahead(belief) for belief in lots]
            self.weights[stage] = self._fit_weights(stage, lots, ahead, n_codes)
            if refine is not None:
                refine(stage, lots, ahead)
        return self

    def _fit_weights(self, stage: int, lots: Lots, ahead: list[CostsAhead], n_codes: int) -> FloatArray:
        price = planned_prices(self.problem)[stage]
        posterior = np.concatenate([belief.probabilities for belief in lots])
        context = np.concatenate([self.tables.contexts(stage, belief.state) for belief in lots])
        answers = np.concatenate([self.problem.structure.answers(stage, belief.state) for belief in lots])
        target = np.concatenate([price + row_sums(a.value.reshape(len(belief), -1)) for a, belief in zip(ahead, lots)])
        self.values.refit(stage, posterior, target)
        functions, plain = self._functions(stage, posterior, context)
        unit = float(self.problem.decision_costs.max()) or 1.0
        functions[:, :-2] *= unit  # costs as the others are: the penalty weighs all alike, in whatever currency
        weights = np.zeros((1 + answers.shape[1], n_codes, functions.shape[1]))
        used = slice(None)
        if answers.shape[1] * (n_codes - 1) * functions.shape[1] > _TUNING.max_columns:
            used = slice(-2, None)
        design = _design(functions, functions[:, used], answers, n_codes - 1)
        solution = _ridge(design, target - plain)
        weights[0, 0] = solution[: functions.shape[1]]
        shape = (answers.shape[1], n_codes - 1, functions[:, used].shape[1])
        weights[1:, :-1, used] = solution[functions.shape[1] :].reshape(shape)
        weights[..., :-2] *= unit
        return weights

    def _functions(self, stage: int, belief: FloatArray, context: IntArray) -> tuple[FloatArray, FloatArray]:
        """The functions psi, (n, n_classes + 2), and the projection's cost of going on, (n,)."""
        stop, plain = self._costs_by_projection(stage, belief, context)
        return np.column_stack([belief, stop, np.minimum(plain, stop)]), plain

    def _costs_by_projection(self, stage: int, belief: FloatArray, context: IntArray) -> tuple[FloatArray, FloatArray]:
        """Cost of stopping, and the projection's cost of going on, both (n,)."""
        stop = self.problem.stopping_cost(belief)
        plain = self._continuation(stage, belief, context)
        return stop, np.where(np.isfinite(plain), plain, stop)

    def _check_stored(self) -> None:
        for weights in require_list(self, "weights", self.n_stages):
            require(weights is None or bool(np.isfinite(weights).all()), "weights are not finite")


def _sum_of_answers(tables: FloatArray, answers: IntArray) -> FloatArray:
    """Sum over answers of the row of each one's table, (n, n_functions)."""
    total = np.zeros((len(answers), tables.shape[2]))
    for code, table in zip(answers.T, np.ascontiguousarray(tables)):
        total += table.take(code, axis=0, mode="wrap")  # -1 reads the last row, which is zero
    return total


def _design(functions: FloatArray, shared: FloatArray, answers: IntArray, n_codes: int) -> FloatArray | sp.csr_array:
    """All functions of each row, and for each of its answers those that are shared, in that answer's columns."""
    n, n_answers = answers.shape
    width = shared.shape[1]
    row, answer = np.nonzero((answers >= 0) & (answers < n_codes))
    place = answer * n_codes + answers[row, answer]
    n_columns = functions.shape[1] + n_answers * n_codes * width
    if n_columns <= _TUNING.max_direct and functions.size + row.size * width > _TUNING.dense_share * n * n_columns:
        design = np.zeros((n, n_columns))
        design[:, : functions.shape[1]] = functions
        design[:, functions.shape[1] :].reshape(n, -1, width)[row, place] = shared[row]
        return design
    columns = (place[:, None] * width + np.arange(width)).ravel()
    starts = np.concatenate([[0], np.bincount(row, minlength=n).cumsum() * width])
    parts = (shared[row].ravel(), columns, starts)
    return sp.csr_array(sp.hstack([functions, sp.csr_array(parts, shape=(n, n_answers * n_codes * width))]))


def _ridge(design: FloatArray | sp.csr_array, target: FloatArray) -> FloatArray:
    n_columns = design.shape[1]
    entries: FloatArray = np.ravel(design) if isinstance(design, np.ndarray) else design.data
    penalty = _TUNING.ridge * float(entries @ entries) / n_columns + np.finfo(float).tiny
    if n_columns > _TUNING.max_direct:
        return np.asarray(lsmr(design, target, damp=np.sqrt(penalty), maxiter=_TUNING.n_steps, atol=1e-8, btol=1e-8)[0])
    gram = design.T @ design
    if sp.issparse(gram):
        gram = gram.toarray()
    return solve_ridge(gram, design.T @ target, penalty)


def sample_visited_states(
    steering: ProjectedValues, n_beliefs: int, rng: np.random.Generator
) -> list[list[BeliefState]]:
    """Sample states that the problem itself reaches, to correct the values of a projection at."""
    problem = steering.problem
    if n_beliefs == 0 or problem.structure.answers(0, problem.start(1)) is None:
        return []
    least = _TUNING.min_reach if problem.n_classes <= 2 else _TUNING.min_reach_of_many
    half, steered = -(-n_beliefs // 2), LookaheadPolicy(steering)
    visited = list(sample_states(problem, steering.n_stages, half, rng, steered, merge=False, least_reach=least))
    n_stages = max(sum(1 for belief in visited if len(belief)), min(ALWAYS, steering.n_stages))
    return [visited[:n_stages], list(sample_states(problem, n_stages, half, rng, merge=False))]


class BoundedLookaheadPolicy(LookaheadPolicy):
    """Acts as `LookaheadPolicy` on corrected values, and spares most of their evaluations.

    Before it is evaluated, the value of an outcome lies between the price of one more feature with the class then
    known, and the cost of stopping there. The outcomes whose bounds are furthest apart are evaluated first, until the
    bounds on the cost of going on lie on one side of the stopping cost (S. Ross, J. Pineau, S. Paquet and B. Chaib-
    draa, "Online planning algorithms for POMDPs", JAIR 32, 2008, section 3.2 (branch and bound)).
    """

    values: CorrectedValues

    def _action(self, belief: BeliefState) -> IntArray:
        if not self.values.is_corrected(belief.stage + 1):
            return super()._action(belief)
        open_ = ~stopping_is_certain(belief)
        rows = np.flatnonzero(open_)
        # rather a few rows for nothing than a copy of all others; the update then finds their likelihoods
        some = belief if 4 * rows.size >= 3 * len(belief) else belief[rows]
        go_on, limit = np.empty(len(some), dtype=bool), stopping_threshold(some)
        row_bytes = 8.0 * float(self.problem.n_outcomes[belief.stage]) * self.problem.n_classes
        answers, tables = self.problem.structure.answers(belief.stage, some.state), self.values.tables
        assert answers is not None  # corrections are made of them
        after = tables.successors(belief.stage, tables.contexts(belief.stage, some.state))
        for part in chunks(len(some), row_bytes, CACHE_BYTES):
            go_on[part] = self._pays(some, part, limit[part], answers[part], after[part])
        if some is not belief:
            open_[rows] = go_on
        else:
            open_ &= go_on
        return np.where(open_, belief.stage, DECIDE)

    def _pays(
        self, belief: BeliefState, part: slice, limit: FloatArray, answers: IntArray, after: IntArray
    ) -> BoolArray:
        """Whether going on costs less than ``limit``, (n,), in a part of the rows, of these answers and successors."""
        likelihood = outcome_likelihood(belief)[part]
        n, n_outcomes, n_classes = likelihood.shape
        # a row an instance and outcome; numpy is slow to broadcast along an axis as short as the classes'
        joint = likelihood.reshape(-1, n_classes) * np.repeat(belief.probabilities[part], n_outcomes, axis=0)
        stop = self.problem.stopping_cost(joint)
        # the most that each outcome's value can be below the cost of stopping
        saving = stop - self.values.least_cost(belief.stage + 1, joint)
        np.maximum(saving, 0.0, out=saving)
        upper = price_of_question(belief)[part] + row_sums(stop.reshape(n, n_outcomes))
        lower = upper - row_sums(saving.reshape(n, n_outcomes))
        open_ = np.flatnonzero((upper >= limit) & (lower < limit))
        for _ in range(n_outcomes):
            if not open_.size:
                break
            outcome, most = _largest(saving.reshape(n, n_outcomes)[open_])
            branch = open_ * n_outcomes + outcome
            told = self.values.answers_after(belief.stage, answers.take(open_, axis=0), outcome)
            saved = stop[branch] - self.values.going_on(belief.stage + 1, joint[branch], after[open_, outcome], told)
            np.clip(saved, 0.0, most, out=saved)
            saving[branch] = 0
            upper[open_] -= saved
            lower[open_] += most - saved
            open_ = open_[(upper[open_] >= limit[open_]) & (lower[open_] < limit[open_])]
        return upper < limit


def _largest(values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Position and value of the largest entry of each row, the first one of equals; quick where rows are short."""
    best = values[:, 0].copy()
    where = np.zeros(len(values), dtype=np.intp)
    for column in range(1, values.shape[1]):
        larger = values[:, column] > best
        np.copyto(best, values[:, column], where=larger)
        where[larger] = column
    return where, best


#: The powers of three costs: products of one to three of them.
_PRODUCTS = [p for d in range(1, 4) for p in combinations_with_replacement(range(3), d)]


class MartingaleValues(ValueFunction, stored=False):
    """Corrected values plus what smooth functions of the belief and of the costs there explain of their error."""

    def __init__(self, values: CorrectedValues) -> None:
        super().__init__(values.problem, values.n_stages)
        self.values = values
        #: Of each stage the weights (n_functions,), or None.
        self.weights: list[FloatArray | None] = [None] * self.n_stages

    def fit_stage(self, stage: int, lots: Lots, ahead: list[CostsAhead]) -> None:
        """Fit the refinement of one stage, those after it being fitted."""
        problem, designs, targets = self.problem, [], []
        for belief, after in zip(lots, ahead):
            context = self.values.tables.contexts(stage, belief.state)
            answers = problem.structure.answers(stage, belief.state)
            assert answers is not None  # corrections are made of them
            costs = self.values.costs(stage, belief.probabilities, context, answers)
            designs.append(self._functions(CostsAhead(belief.probabilities, *costs)))
            expected = row_sums(self._refine(stage + 1, after).reshape(len(belief), -1))
            targets.append(planned_prices(problem)[stage] + expected - costs[2])
        design, target = np.concatenate(designs), np.concatenate(targets)
        # ridge penalty, as a share of the mean square of a column
        self.weights[stage] = solve_scaled_ridge(design, target, 1e-8 * len(design))

    def successor_values(self, belief: BeliefState) -> FloatArray:
        """Value of each unnormalised successor of the next feature, (n, n_outcomes)."""
        following = belief.stage + 1
        if following >= self.n_stages or self.weights[following] is None:
            return self.values.successor_values(belief)
        return self._refine(following, self.values.costs_ahead(belief)).reshape(len(belief), -1)

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return self.values._continuation(stage, belief, context)

    def _refine(self, stage: int, ahead: CostsAhead) -> FloatArray:
        weights = self.weights[stage] if stage < self.n_stages else None
        if weights is None:
            return ahead.value
        result = np.empty(len(ahead.belief))
        for rows in chunks(len(result), 8.0 * 3 * self._n_functions):
            part = CostsAhead(*(values[rows] for values in ahead))
            go_on = part.go_on + row_sums(part.belief) * (self._functions(part) @ weights)
            result[rows] = np.minimum(part.stop, np.maximum(go_on, self.values.least_cost(stage, part.belief)))
        return result

    @property
    def _n_functions(self) -> int:
        return 2 * self.problem.n_classes + len(_PRODUCTS)

    def _functions(self, costs: CostsAhead) -> FloatArray:
        """The functions per unit of belief, (n, n_functions)."""
        belief, stop, plain, go_on = costs
        total = row_sums(belief)
        unit = 1 / np.where(total > 0, total, 1.0)
        n_classes = self.problem.n_classes
        rows = np.empty((self._n_functions, len(belief)))
        known = np.minimum(plain, stop) * unit
        np.multiply(belief.T, unit, out=rows[:n_classes])
        np.multiply(rows[:n_classes], known, out=rows[n_classes : 2 * n_classes])
        roots = np.sqrt(np.maximum([stop * unit, known, np.minimum(go_on, stop) * unit], 0.0))
        made: dict[tuple[int, ...], FloatArray] = {}
        for row, product in zip(rows[2 * n_classes :], _PRODUCTS):
            first = roots[product[-1]]
            np.copyto(row, first if len(product) == 1 else made[product[:-1]] * first)
            made[product] = row
        return np.asarray(rows.T)


@dataclass(repr=False, eq=False)
class ProjectedValueIteration(Solver):
    """Solver for problems without tables, such as those of correlated features that depend on too many others.

    The problem's `projection`, in which a stage depends only on the few answers that say most about what is to come, is
    solved by any solver that computes values. A regression corrects these for the answers that the projection does not
    remember. The policy is one step of look-ahead on them in the problem itself, with its own likelihoods and beliefs.
    The values are not the cost of any plan, but the certificate is that of the policy on the problem itself, and as
    valid as any; for the certificate alone the values are refined once more, and its gap is paired (see `certify`). A
    problem that has tables is left to the inner solver.

    Parameters
    ----------
    solver : Solver, optional
        Solves the projection; by default a grid for two classes and `FittedValueIteration` beyond, whose functions are
        then fitted to the problem itself.
    max_contexts : int or None
        Most contexts of a stage of the projection; 1 leaves nothing but the belief. None: 32 for two classes; 1 beyond.
    n_beliefs : int or None
        Most beliefs a stage, reached by the problem itself, at which the values are corrected; 0 leaves them as they
        are. None: 1000; with more than three classes 2000, and up to 4000 as questions cost less than a hundredth of
        deciding at once.
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out.
    random_state : int, generator or None
        Seed of the beliefs and the certificate, and of the solver if none is given.

    References
    ----------
    .. [1] M. B. Haugh and L. Kogan, "Pricing American options: a duality approach", Operations Research 52, 2004 (why
       any values give a valid bound).
    .. [2] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import ProjectedValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(ProjectedValueIteration().solve(problem).info.upper, 3)
    0.25
    """

    _least = {"max_contexts": 1, "n_beliefs": 0}
    _paired = True

    solver: Solver | None = None
    _: KW_ONLY
    max_contexts: int | None = None
    n_beliefs: int | None = None

    def _check(self, problem: AcquisitionProblem) -> None:
        require_fixed_order(problem, "ProjectedValueIteration")
        if self._projection(problem) is None:
            raise ValueError(
                "ProjectedValueIteration needs a problem with tables or a projection, and this one has neither; use "
                "Lookahead."
            )

    def _projection(self, problem: AcquisitionProblem) -> AcquisitionProblem | None:
        # values that only steer need no fine contexts; with more classes functions of the belief, in one, say as much
        few = 32 if problem.n_classes <= 2 else 1
        most = few if self.max_contexts is None else self.max_contexts
        return problem if problem.structure.tables is not None else problem.structure.projection(most)

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        n_beliefs = _n_beliefs(problem) if self.n_beliefs is None else self.n_beliefs
        projection = self._projection(problem)
        assert projection is not None  # it was checked at the door
        solver = self._inner(projection, projection is not problem)
        policy, planned = self._plan_projection(solver, projection)
        if projection is problem:
            return self.certify(policy, planned)
        while True:
            steering = ProjectedValues(problem, projection, planned)
            states = sample_visited_states(steering, n_beliefs, as_generator(self.random_state))
            if not _reaches_end(states, steering.n_stages, problem) or "first_horizon" not in solver.get_params():
                break
            # the projection is the surer of itself: where it has long decided the problem may not have
            longer = self._plan_projection(solver.set_params(first_horizon=2 * steering.n_stages), projection)
            if longer[0].n_stages == policy.n_stages:
                break
            policy, planned = longer
        if not states:
            return self.certify(with_info(LookaheadPolicy(steering, policy.info), size=steering.size), steering)
        values = CorrectedValues(problem, steering)
        refined = MartingaleValues(values)
        values.fit(states, refined.fit_stage if self.certificate_paths else None)
        return self.certify(with_info(BoundedLookaheadPolicy(values, policy.info), size=values.size), refined)

    def _plan_projection(self, solver: Solver, projection: AcquisitionProblem) -> tuple[Policy, ValueFunction]:
        policy = solver.solve(projection)
        if (values := policy._lookahead_values) is None:
            raise ValueError(
                "ProjectedValueIteration needs a solver that works out values, such as Perseus, and "
                f"{self.solver!r} does not."
            )
        return policy, values

    def _inner(self, projection: AcquisitionProblem, steering: bool) -> Solver:
        if self.solver is not None:
            solver = clone(self.solver)
        elif steering and projection.n_classes <= 2:
            solver = GridValueIteration(200, random_state=self.random_state)
        elif steering:
            solver = FittedValueIteration(1000, n_rounds=1, random_state=self.random_state)
        else:
            solver = table_solver(projection, self.random_state)
        # its certificate would be about the projection
        return solver.set_params(certificate_paths=0)  # type: ignore[no-any-return]


def _reaches_end(states: list[list[BeliefState]], n_stages: int, problem: AcquisitionProblem) -> bool:
    """Whether cases still go on at the last stage of the horizon, and there are stages beyond."""
    return bool(n_stages < problem.n_stages and states and len(states[0]) == n_stages and len(states[0][-1]))


def _n_beliefs(problem: AcquisitionProblem) -> int:
    if problem.n_classes <= 3 or not problem.n_questions:
        return 1000
    dear = 0.01 * float(problem.stopping_cost(problem.prior[None])[0])
    cheaper = dear / max(float(problem.prices.mean()), np.finfo(float).tiny)
    # late and rare errors count where a question costs little
    return int(2000 * np.clip(np.sqrt(cheaper), 1.0, 2.0))


def table_solver(problem: AcquisitionProblem, random_state: Any = 0) -> Solver:
    """Solver for a problem with tables: a grid for at most three classes, Perseus beyond."""
    if problem.n_classes <= 3:
        return GridValueIteration(random_state=random_state)
    return Perseus(random_state=random_state)


def sequential_solver(problem: AcquisitionProblem, random_state: Any = 0) -> Solver:
    """Solver for a problem in which one question is asked at a time; see `seqclass.pomdp.solvers.defaults`."""
    if problem.any_order:
        return Adaptive(random_state=random_state)
    if problem.structure.tables is not None:
        return table_solver(problem, random_state)
    if problem.structure.projection(1) is not None:
        return ProjectedValueIteration(random_state=random_state)
    return Lookahead(2, random_state=random_state)
