"""The engine of semi-randomised feature selection, Algorithms 1 to 4: one iteration after another."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, IntArray
from seqclass._utils.model_files import register
from seqclass._utils.validation import check_integer, check_real
from seqclass.selection._semi_evaluate import (
    CoolDown,
    Evaluator,
    OutOfBudget,
    SearchProgress,
    SemiRFSStep,
    acceptance_probability,
    first_best,
    group_size,
    is_better,
    removal_size,
)


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the engine; `SemiRFS` documents them."""

    adaptive: bool
    alpha: float
    beta: float
    group_size: int
    removal_group_size: int | None  # None: eq. (1) or (3)
    w: float
    w_prime: float
    fine_stage: bool  # whether PCT_imp enters the group sizes, eq. (3)
    c: float | None
    cool_down: bool
    cooling: float
    addition_penalty: float
    removal_size: int | None  # None: as many as pays, given n_relevant
    n_relevant: int
    min_features: int
    max_features: int


def check_settings(selector: Any, n_features: int) -> SearchSettings:
    """Settings of the engine from the parameters of a `SemiRFS`."""
    check_limits(selector)
    check_error_score(selector.error_score)
    check_feature_params(selector.estimator, selector.feature_params, n_features)
    if selector.n_initial is not None:
        check_integer(selector.n_initial, "n_initial", 1)
    low = check_integer(selector.min_features, "min_features", 1, n_features)
    high = n_features if selector.max_features is None else check_integer(selector.max_features, "max_features", low)
    penalty = selector.addition_penalty
    if penalty is None:
        penalty = 0.5 if isinstance(selector.warm_start, str) else 0.0
    n_relevant = math.isqrt(n_features) if selector.n_relevant is None else selector.n_relevant
    return SearchSettings(
        adaptive=bool(selector.adaptive),
        alpha=check_real(selector.alpha, "alpha", 0.0),
        beta=check_real(selector.beta, "beta", 0.0),
        group_size=check_integer(selector.group_size, "group_size", 1),
        removal_group_size=_removal_group_size(selector.removal_group_size, selector.adaptive),
        w=_weight(selector.w, "w"),
        w_prime=_weight(selector.w_prime, "w_prime"),
        fine_stage=not (selector.warm_start is None or selector.warm_start is False),
        c=None if selector.c is None else check_real(selector.c, "c", 0.0),
        cool_down=bool(selector.cool_down),
        cooling=check_real(selector.cooling, "cooling", 0.0, np.finfo(float).max),
        addition_penalty=check_real(penalty, "addition_penalty", 0.0, 1.0),
        removal_size=_check_size(selector.removal_size),
        n_relevant=check_integer(n_relevant, "n_relevant", 0),
        min_features=low,
        max_features=min(high, n_features),
    )


def check_limits(selector: Any) -> None:
    """Check the limits of a search, of which it needs one at least."""
    least = {"max_iter": 0, "max_evaluations": 1, "patience": 1}
    limits = {name: getattr(selector, name) for name in least if getattr(selector, name) is not None}
    for name, limit in limits.items():
        check_integer(limit, name, least[name])
    if selector.max_time is not None:
        check_real(selector.max_time, "max_time", 0.0)
    elif not limits:
        raise ValueError("the search would never end: set max_time, max_iter, max_evaluations or patience.")


def check_error_score(error_score: Any) -> None:
    """Check that it is "raise" or a number, NaN included."""
    if isinstance(error_score, str):
        if error_score != "raise":
            raise ValueError(f"error_score must be 'raise' or a number, got {error_score!r}.")
    elif not (isinstance(error_score, float) and math.isnan(error_score)):
        check_real(error_score, "error_score", -np.finfo(float).max, np.finfo(float).max)


def check_feature_params(estimator: Any, names: Sequence[str], n_features: int) -> None:
    """Check that these parameters of the learner have one value a feature."""
    if isinstance(names, str):
        raise TypeError(f"feature_params must be a list of names, got the string {names!r}: use [{names!r}].")
    values = estimator.get_params(deep=True) if names else {}
    for name in names:
        if name not in values:
            raise ValueError(f"feature_params: estimator has no parameter {name!r}.")
        shape = np.shape(values[name])
        if shape[:1] != (n_features,):
            raise ValueError(
                f"feature_params: {name!r} must have one value for each of the {n_features} features, but "
                f"its shape is {shape}."
            )


def _removal_group_size(value: Any, adaptive: bool) -> int | None:
    if value is None:
        return None if adaptive else 1
    return check_integer(value, "removal_group_size", 1)


def _check_size(value: Any) -> int | None:
    if not isinstance(value, str):
        return check_integer(value, "removal_size", 1)
    if value != "optimal":
        raise ValueError(f"removal_size must be an integer or 'optimal', got {value!r}.")
    return None


def _weight(value: Any, name: str) -> float:
    if check_real(value, name, 0.0, 1.0) == 0:
        raise ValueError(f"{name} must be above 0: with 0 the average would never move.")
    return float(value)


@register
@dataclass
class SearchState:
    """Where the search stands, between two iterations."""

    selected: BoolArray
    seed: int
    score: float
    c: float
    stage: SearchProgress
    cool: CoolDown | None
    idle: int = 0  # iterations since a subset was scored that had not been before
    stale: int = 0  # iterations since the best score rose
    steps: list[SemiRFSStep] = field(default_factory=list)


@dataclass(frozen=True)
class Proposal:
    """What an iteration tries; all its randomness is drawn before anything is scored."""

    move: str
    additions: IntArray  # features, one to a candidate
    removals: list[IntArray]  # features of each candidate
    lot: float  # accept a worse candidate if below its probability


@dataclass(frozen=True)
class Outcome:
    """What came of a proposal: the best candidate, and how the score changed with all that were tried."""

    candidate: BoolArray
    score: float
    share_improving: float
    changes: list[tuple[IntArray, float, bool]]  # features, change of the score, whether they were added


def start_search(selected: BoolArray, seed: int, evaluator: Evaluator, settings: SearchSettings) -> SearchState:
    """Score the initial subset, and set what depends on it."""
    subset = np.flatnonzero(selected)
    score = float(evaluator.scores([subset])[0])
    std = evaluator.std(subset)
    c = settings.c
    if c is None:
        c = 10 / std if std > 0 else math.inf  # ten standard deviations of the score over folds are one unit of 1/c
    cool = CoolDown(selected, settings.cooling, std) if settings.cool_down else None
    state = SearchState(selected.copy(), seed, score, c, SearchProgress(), cool)
    scored = score, score, evaluator.best_score
    spent = evaluator.n_evaluations, evaluator.elapsed_seconds
    state.steps.append(SemiRFSStep(0, "start", 0, 0, len(subset), *scored, True, False, 0.0, 0.0, *spent))
    return state


def run_search(
    state: SearchState,
    evaluator: Evaluator,
    settings: SearchSettings,
    *,
    max_iter: float,
    patience: float,
    on_step: Callable[[SemiRFSStep], bool],
) -> str:
    """Go on until a limit is met; ``on_step`` is told of each iteration, and ends the search if it says so."""
    try:
        # of the initial subset nobody has heard yet
        if state.stage.k == 0 and on_step(state.steps[0]):
            return "callback"
        while True:
            if state.stage.k >= max_iter:
                return "max_iter"
            if state.stale >= patience:
                return "patience"
            if evaluator.n_evaluations >= evaluator.max_evaluations:
                return "max_evaluations"
            if evaluator.elapsed_seconds >= evaluator.max_time:
                return "max_time"
            # after 200 iterations without a subset that is new the search has seen all it can reach
            if state.idle >= 200 or not feasible_moves(state.selected, settings):
                return "exhausted"
            if on_step(iterate(state, evaluator, settings)):
                return "callback"
    except OutOfBudget as spent:
        return spent.reason
    except KeyboardInterrupt:
        return "interrupted"


def feasible_moves(selected: BoolArray, settings: SearchSettings) -> dict[str, float]:
    """Weight of each move that the bounds on the size leave open: the biased coin of Algorithm 3."""
    size = int(selected.sum())
    rest = len(selected) - size
    adding = 1.0 - settings.addition_penalty
    weights = {
        "swap": adding if rest and size else 0.0,
        "add": adding if rest and size < settings.max_features else 0.0,
        "remove": 1.0 if size > settings.min_features else 0.0,
    }
    return {move: weight for move, weight in weights.items() if weight > 0}


def group_sizes(state: SearchState, settings: SearchSettings) -> tuple[int, int]:
    """Sizes g and g' of the groups, clipped to their pools; 0 for an empty pool."""
    selected = int(state.selected.sum())
    share = state.stage.smoothed_share if settings.fine_stage else 0.0

    def size(pool: int, fixed: int | None) -> int:
        if fixed is not None:
            return min(fixed, pool)
        return group_size(pool, settings.alpha, settings.beta, state.stage.smoothed_n, share) if pool else 0

    residual = len(state.selected) - selected
    return size(residual, None if settings.adaptive else settings.group_size), size(
        selected, settings.removal_group_size
    )


def propose(state: SearchState, settings: SearchSettings) -> Proposal:
    """Draw a move and its groups; the draw depends on the state and the number of the iteration alone."""
    rng = np.random.default_rng([state.seed, state.stage.k])
    moves = feasible_moves(state.selected, settings)
    weights = np.array(list(moves.values()))
    move = list(moves)[int(rng.choice(len(moves), p=weights / weights.sum()))]
    g, g_removal = group_sizes(state, settings)
    additions: IntArray = np.empty(0, dtype=np.intp)
    removals: list[IntArray] = []
    if move != "remove":
        additions = _draw(rng, np.flatnonzero(~state.selected), g, state.cool)
    if move != "add":
        pool = np.flatnonzero(state.selected)
        many = 1 if move == "swap" else _removal_size(len(pool), settings)
        if many == 1:
            removals = list(_draw(rng, pool, g_removal, state.cool)[:, None])
        else:
            removals = [_draw(rng, pool, many, state.cool) for _ in range(g_removal)]
    return Proposal(move, additions, removals, float(rng.random()))


def _draw(rng: np.random.Generator, pool: IntArray, n: int, cool: CoolDown | None) -> IntArray:
    p = None if cool is None else cool.probabilities(pool)
    return np.sort(rng.choice(pool, size=n, replace=False, p=p))


def _removal_size(n_selected: int, settings: SearchSettings) -> int:
    wanted = settings.removal_size or removal_size(n_selected, settings.n_relevant)
    return min(wanted, n_selected - settings.min_features)


def iterate(state: SearchState, evaluator: Evaluator, settings: SearchSettings) -> SemiRFSStep:
    """One iteration; if the budget ends within it, the state stays as it was."""
    evaluator.iteration = state.stage.k + 1
    # as it was then, even if some candidates were scored before an interruption
    before = state.steps[-1]
    proposal = propose(state, settings)
    outcome = try_out(proposal, state, evaluator, lambda n: _likely_next(state, settings, n))
    improved = is_better(outcome.score, state.score)
    accepted = proposal.lot < acceptance_probability(outcome.score, state.score, state.c)
    stage = state.stage
    shown = (stage.smoothed_n, stage.smoothed_share)
    if state.cool is not None:
        _cool(state.cool, outcome, state.selected, accepted)
    if accepted:
        state.selected, state.score = outcome.candidate, outcome.score
    stage.update(improved, outcome.share_improving, settings.w, settings.w_prime)
    state.idle = 0 if evaluator.n_evaluations > before.n_evaluations else state.idle + 1
    state.stale = 0 if is_better(evaluator.best_score, before.best_score) else state.stale + 1
    step = SemiRFSStep(
        stage.k,
        proposal.move,
        len(proposal.additions),
        len(proposal.removals),
        int(state.selected.sum()),
        outcome.score,
        state.score,
        evaluator.best_score,
        accepted,
        improved,
        *shown,
        evaluator.n_evaluations,
        evaluator.elapsed_seconds,
    )
    state.steps.append(step)
    return step


def try_out(
    proposal: Proposal, state: SearchState, evaluator: Evaluator, speculate: Callable[[int], list[IntArray]]
) -> Outcome:
    """Score the candidates: additions first, and removals from what the best of them gives."""
    base, base_score = state.selected, state.score
    changes: list[tuple[IntArray, float, bool]] = []
    better = 0
    phases: list[tuple[bool, Sequence[IntArray]]] = [(True, list(proposal.additions[:, None]))]
    phases.append((False, proposal.removals))
    for added, groups in phases:
        if not groups:
            continue
        subset = np.flatnonzero(base)
        scores = evaluator.scores([_change_subset(subset, group, added) for group in groups], speculate)
        better += sum(is_better(float(score), state.score) for score in scores)
        # what cannot be scored is as bad as can be, and no better than itself
        rises = [0.0 if score == base_score else float(score - base_score) for score in scores]
        changes += [(group, rise, added) for group, rise in zip(groups, rises)]
        best = first_best(scores)
        base, base_score = base.copy(), float(scores[best])
        base[groups[best]] = added
    return Outcome(base, base_score, better / len(changes), changes)


def _change_subset(subset: IntArray, group: IntArray, added: bool) -> IntArray:
    """Increasing columns of a subset with a group or without it; of the subset's size, not of all features'."""
    if added:
        return np.sort(np.append(subset, group))
    return subset[~np.isin(subset, group)]


def _cool(cool: CoolDown, outcome: Outcome, selected: BoolArray, accepted: bool) -> None:
    """Algorithm 4, lines 16 and 17; a feature that has just moved is not soon moved back."""
    n_selected = int(selected.sum())
    cool.warm_up()
    for features, change, added in outcome.changes:
        cool.note_change(features, change, len(selected) - n_selected if added else n_selected)
    if accepted:
        size = int(outcome.candidate.sum())
        cool.note_join(np.flatnonzero(outcome.candidate & ~selected), size)
        cool.note_join(np.flatnonzero(selected & ~outcome.candidate), len(selected) - size)


def _likely_next(state: SearchState, settings: SearchSettings, n: int) -> list[IntArray]:
    """First candidates of the iterations to come, if those before them are all rejected."""
    guess = copy.copy(state)
    guess.stage = copy.copy(state.stage)
    subset = np.flatnonzero(state.selected)
    candidates: list[IntArray] = []
    for _ in range(n):
        guess.stage.update(False, 0.0, settings.w, settings.w_prime)
        proposal = propose(guess, settings)
        added = proposal.move != "remove"
        groups = list(proposal.additions[:, None]) if added else proposal.removals
        candidates += [_change_subset(subset, group, added) for group in groups]
        if len(candidates) >= n:
            break
    return candidates[:n]
