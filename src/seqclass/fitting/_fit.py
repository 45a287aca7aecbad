"""From rows to the record that decides: bins, selection, model, order, calibration, plan."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqclass._utils.arrays import FloatArray, IntArray, as_generator, draw_columns
from seqclass._utils.frames import FrameEncoder, is_frame, plain_data, spelt, take_rows, with_texts
from seqclass._utils.marks import mark_columns, split_marks
from seqclass._utils.prices_after import take_prices_after
from seqclass._utils.progress import report_progress
from seqclass._utils.text import join_names, sentence, short_repr
from seqclass._utils.validation import columns_of, plain_labels, to_mapping
from seqclass.agent._coding import OutcomeCoder, category_counts, check_training
from seqclass.agent._naming import ColumnNaming
from seqclass.agent._row_fingerprints import RowFingerprints, both_marks
from seqclass.agent.agent import Agent, Classifier, all_outcomes, features_to_ask
from seqclass.agent.calibration import Calibration
from seqclass.agent.problem import acquisition_problem, is_free
from seqclass.agent.training_rows import mark_rows
from seqclass.bn import DiscreteNetwork, NaiveBayes, ObservationModel
from seqclass.bn._checks import explain_memory
from seqclass.bn.bundles import draw_jointly
from seqclass.bn.ordering import check_order
from seqclass.costs import Costs, Prices, warn_of_money
from seqclass.fitting._calibration import MOST_ANSWERS, MOST_FREE, Asked, CalibrationFold, by_column, exponents_of
from seqclass.fitting._data_quality import warn_of_doubts
from seqclass.fitting._folds import recent_folds, recent_rows
from seqclass.fitting._planning import (
    build_problem,
    order_features,
    rules_from_settings,
    solve,
    with_problem,
    without_skipped,
)
from seqclass.fitting._settings import Settings
from seqclass.fitting._steps import (
    check_fitted_model,
    check_row_weights,
    filter_features,
    fit_model,
    take_prefit_model,
    time_step,
)
from seqclass.pomdp import EC2, Adaptive, ClassInformation, CrossEntropy, ExpectedSaving, FirstK, Solver
from seqclass.pomdp.prices_after import code_answers


@dataclass(frozen=True)
class FitTuning:
    """How many rows and cases a fit takes."""

    n_folds: int = 10  #: of a calibration
    max_repeated_rows: int = 500  #: up to which folds are drawn twice, each time for half
    n_any_order_folds: int = 5  #: where any question may come next
    n_paths: int = 1000  #: cases of a network that values are fitted to: each answer takes two passes of messages
    n_heavy_paths: int = 500  #: cases where there is time for no more
    heavy_size: int = 40_000  #: numbers in the tables of a network beyond which it is slow
    search_nodes: int = 1000  #: partial answers that a search over all orders of its questions looks at
    n_order_cases: int = 5000  #: of a network that an order is found on, where it needs data


TUNING = FitTuning()


#: What rows held out ask for: how far answers are trusted, and what each was about.
Found = tuple[Calibration, Asked]


@dataclass(eq=False)
class Fit:
    """A record, how it came about, and how long the steps took."""

    settings: Settings
    agent: Agent
    selector: Any = None
    timings: dict[str, float] = field(default_factory=dict)
    #: Features, labels and weights of all rows, to hold some out; none of a fold's.
    rows: tuple[Any, Any, FloatArray | None] | None = None
    #: Weights of the rows that it was planned on.
    weight: FloatArray | None = None
    #: Number of rows that were learnt from, where there were any.
    n_rows: int | None = None


def fit_rows(
    settings: Settings,
    X: Any,
    y: Any,
    weight: Any = None,
    *,
    certify: bool = True,
    found: Found | None = None,
) -> Fit:
    """Learn the model and solve for the policy; folds of a cross-fit do without certificates, marks and warnings."""
    settings.check()
    name = named if isinstance(named := getattr(y, "name", None), str) else None
    X, y, weight = check_row_weights(with_marks(settings.costs, X), y, weight)
    training, timings, columns = (X, y, weight), dict[str, float](), Classifier()
    if settings.prefit:
        settings = settings.replace(observation_model=check_fitted_model(settings.observation_model))
    X = plain_data(X)
    encoder = take_states(settings, FrameEncoder().fit(X)) if settings.prefit and is_frame(X) else None
    X, y, encoder = check_training(columns, X, y, encoder)
    classes = np.unique(y)
    names = getattr(columns, "feature_names_in_", None)
    coder = OutcomeCoder(settings.discretizer, category_counts(encoder), settings.missing == "informative", names)
    prices, costs, decisions = resolve_costs(settings, columns, classes, certify)
    with time_step(timings, "discretize"):
        codes = coder.fit_transform(X, y)
    with time_step(timings, "filter"):
        selector, support = filter_features(settings.selector, *_recent(settings, codes, y, weight)[:2], names)
        codes = codes if selector is None else codes[:, support]
    if settings.prefit:
        if weight is not None:
            raise ValueError("sample_weight: with prefit=True the model learns nothing; leave it out.")
        model = take_prefit_model(settings.observation_model, coder, names, support, classes, timings)
        prices, costs, decisions = resolve_costs(settings, columns, model.classes_, warn=False)
    else:
        naming = ColumnNaming(names=names, encoder=encoder, coder=coder, support=support, prices=prices)
        codes = without_skipped(settings, naming, codes)
        model = new_model(settings, columns, prices, support, coder)
        with explain_memory(coder.n_outcomes_, names):
            model = fit_model(model, codes, y, coder.n_outcomes_[support], timings, weight)
    sizes = np.bincount(np.searchsorted(classes, y), minlength=len(classes))
    agent = without_policy(settings, columns, encoder, coder, support, model, prices, costs, decisions, name)
    if certify:
        warn_of_doubts(agent, X, classes, sizes)
    with explain_memory(coder.n_outcomes_, names):
        agent = plan(settings, agent, codes, y, timings, weight, rows=training, certify=certify, found=found)
    if certify:
        counted = [np.unique(marks, return_counts=True) for marks in mark_rows(agent, X, y)]
        agent = replace(agent, seen=both_marks([RowFingerprints.from_counts(*one) for one in counted]))
    return Fit(settings, agent, selector, timings, training if certify else None, weight, len(y))


def with_marks(costs: Any, X: Any) -> Any:
    """Rows with a column for each mark of what the costs say to hold several."""
    marks = Costs.from_value(costs).marks
    return X if marks is None else split_marks(X, marks)


def resolve_costs(
    settings: Settings, columns: Classifier, classes: npt.NDArray[Any], warn: bool = True
) -> tuple[Prices, FloatArray, npt.NDArray[Any]]:
    """Prices, and costs and labels of decisions, once columns and classes are known."""
    names, given = getattr(columns, "feature_names_in_", None), settings.costs
    known = columns_at_start(settings, columns)
    if known.size and isinstance(given.feature_costs, Mapping):  # of what is known nobody has to say a price
        own = known.tolist() if names is None else names[known].tolist()
        given = clone(given).set_params(feature_costs=dict.fromkeys(own, 0.0) | dict(given.feature_costs))
    prices = without_price(given.prices(columns.n_features_in_, names), known, names)
    rules_from_settings(settings, columns.n_features_in_, names)
    costs, decisions = settings.costs.of_decisions(classes)
    if warn:
        warn_of_money(prices.discounted, costs)
    return prices, costs, decisions


def columns_at_start(settings: Settings, columns: Classifier) -> IntArray:
    """Columns that are known at the start, in rising order."""
    features, n = settings.known, columns.n_features_in_
    if isinstance(features, (str, int)):
        raise ValueError(f"known must be a list of columns, such as known=[{features!r}], got {short_repr(features)}.")
    if features is None or not len(features := list(features)):
        return np.empty(0, dtype=np.intp)
    names = getattr(columns, "feature_names_in_", None)
    features = mark_columns(features, settings.costs.marks or (), [] if names is None else list(map(str, names)))
    known = np.sort(check_order(features, n, names, what="known"))
    if len(known) == n:
        raise ValueError("known names all columns, so that there is nothing to ask: leave out what has to be asked.")
    if isinstance(settings.known, Mapping):
        others = [column for column in settings.known.values() if column is not None]
        asked = columns_of(others, n, names, "known")
        if twice := np.intersect1d(asked, known).tolist():
            name = short_repr(twice[0] if names is None else str(names[twice[0]]))
            raise ValueError(f"known names {name} both as known and as needless: nobody is asked for what is known.")
        if others and not is_free(settings.order):
            raise ValueError(
                'known: a fixed order asks everybody the same, so that nothing is needless: take order="adaptive", or '
                "give known as a list."
            )
    if not isinstance(settings.order, str):
        twice = np.intersect1d(check_order(settings.order, n, names), known)
        if twice.size:
            name = short_repr(int(twice[0]) if names is None else str(names[twice[0]]))
            raise ValueError(f"order names {name}, which is known at the start: leave it out of one of the two.")
    return known


def without_price(prices: Prices, known: IntArray, names: Any) -> Prices:
    """Prices that are nothing for what is known at the start, which is of no group and no bundle."""
    if not known.size:
        return prices
    if (bundles := prices.bundles) is not None:
        own = np.isin(np.arange(len(bundles)), known)
        part = (bundles >= 0) & own & np.isin(bundles, bundles[~own])
        if part.any():
            column = int(part.argmax())
            name = short_repr(column if names is None else str(names[column]))
            raise ValueError(
                f"known names {name}, one of the bundle {short_repr(prices.bundle_names[bundles[column]])}: name all "
                "of the bundle, or none."
            )
    full, discounted, groups = copy.deepcopy((prices.full, prices.discounted, prices.groups))
    full[known] = discounted[known] = 0.0
    if groups is not None:
        groups[known] = -1
    for one in prices.after:
        if gone := [c for c in (one.question, *one.after) if c in known]:
            name = short_repr(gone[0] if names is None else str(names[gone[0]]))
            raise ValueError(f"prices_after names {name}, which is known at the start: take it out of one of the two.")
    return replace(prices, full=full, discounted=discounted, groups=groups)


def new_model(
    settings: Settings, columns: Classifier, prices: Prices, support: IntArray, coder: OutcomeCoder
) -> ObservationModel:
    """A model to fit, which knows of the columns that are its features, and which of their outcomes are missing."""
    model = NaiveBayes() if settings.observation_model is None else clone(settings.observation_model)
    model = model._note_columns(support, getattr(columns, "feature_names_in_", None), prices.take(support).bundles)
    if coder.missing_ is not None and coder.missing_[support].any():
        model._apart = coder.missing_[support]
    return model


def name_features(columns: Classifier, support: IntArray, model: ObservationModel) -> ObservationModel:
    """A fitted model, with the names of its features where it has none of its own."""
    names = getattr(columns, "feature_names_in_", None)
    if names is not None and vars(model).get("feature_names_", names) is None:
        model.feature_names_ = names[support].tolist()
    return model


def without_policy(
    settings: Settings,
    columns: Classifier,
    encoder: FrameEncoder | None,
    coder: OutcomeCoder,
    support: IntArray,
    model: ObservationModel,
    prices: Prices,
    costs: FloatArray,
    decisions: npt.NDArray[Any],
    target_name: str | None,
) -> Agent:
    """A record that asks nothing yet."""
    model = model if settings.prefit else name_features(columns, support, model)
    if prices.after:
        names = getattr(columns, "feature_names_in_", None)
        naming = ColumnNaming(names=names, encoder=encoder, coder=coder, support=support, prices=prices)
        coded = code_answers(prices.take(support).after, naming, model.n_outcomes_)
        prices = replace(prices, after=take_prices_after(coded, dict(enumerate(support.tolist()))))
    problem = acquisition_problem(model, np.empty(0, dtype=np.intp), prices.take(support), costs)
    policy = FirstK(0, certificate_paths=0).solve(problem)
    charge, unknown = settings.costs.charge_missing, settings.handle_unknown
    return Agent(
        columns,
        encoder,
        coder,
        support,
        model,
        prices,
        problem,
        policy,
        model.classes_,
        decisions,
        charge,
        unknown,
        target_name,
        unit=settings.costs.unit_name(),
        known=np.flatnonzero(np.isin(support, columns_at_start(settings, columns))),
    )


def plan(
    settings: Settings,
    agent: Agent,
    codes: Any,
    y: Any,
    timings: dict[str, float],
    weight: FloatArray | None = None,
    *,
    rows: tuple[Any, Any, Any] | None = None,
    certify: bool = True,
    found: Found | None = None,
    order: IntArray | None = None,
) -> Agent:
    """Order, make the problem, calibrate on rows of the data if wanted, and solve."""
    recent, labels, recent_weight = _recent(settings, codes, y, weight)
    if order is None:
        with time_step(timings, "order"):
            order = order_features(settings, agent, recent, labels)
    problem = build_problem(settings, agent, order, codes, weight)
    if settings.calibrate:
        with time_step(timings, "calibrate"):
            calibration, asked = found or calibrate(settings, *rows)  # type: ignore[misc]
            exponents = by_column(problem, agent.support, agent.n_features, calibration.exponents, asked)
            exponents[agent.support[agent.known]] = 1.0  # beliefs at the start stay what the others go on from
            model = agent.model.with_exponents(exponents[agent.support])
            agent = replace(agent, model=model, calibration=calibration)
            problem = build_problem(settings, agent, order, codes, weight)
    with time_step(timings, "solve", without="certify"):
        agent = solve(settings, agent, problem, certify, recent, labels, recent_weight)
        timings["certify"] = agent.policy.info.certify_seconds
    return agent


def change_costs(costs: Costs, agent: Agent, given: Any) -> Costs:
    """Other costs in the place of some; of prices alone, all else stays, and what a dict leaves out."""
    if Costs.from_value(given) is given:
        if list(given.marks or ()) != list(costs.marks or ()):
            raise ValueError("marks: their columns were made by the fit; give the same marks, or fit again.")
        return given
    if isinstance(prices := to_mapping(given, "costs"), Mapping):
        columns = range(agent.n_features) if agent.feature_names is None else agent.feature_names.tolist()
        own = [name for name in prices if name in columns or str(name) not in agent.prices.bundle_names]
        new = columns_of(own, agent.n_features, agent.feature_names, "costs")
        left = {
            name: price
            for place, (name, price) in enumerate(zip(columns, agent.prices.full.tolist()))
            if place not in new
        }
        prices = left | dict(prices)
    return clone(costs).set_params(feature_costs=prices)  # type: ignore[no-any-return]


def with_costs(settings: Settings, agent: Agent) -> Agent:
    """An agent solved again for the costs of other settings."""
    prices, costs, decisions = resolve_costs(settings, agent.columns, agent.classes)
    parts = (agent.columns, agent.encoder, agent.coder, agent.support, agent.model, prices, costs, decisions)
    other = without_policy(settings, *parts, agent.target_name)
    problem = other.problem.replace(prior=agent.problem.prior, starts=agent.problem.structure.starts)
    other = replace(other, problem=problem, calibration=agent.calibration, seen=agent.seen)
    alike = _compare_alike(settings, agent.prices, other.prices)
    by_prices = isinstance(settings.order, str) and settings.order not in ("given", "adaptive")
    if by_prices and alike:
        order = features_to_ask(agent, whole=True)
    else:
        order = order_features(settings, other, *(_draw_cases(settings, other) if by_prices else (None, None)))
    problem = build_problem(settings, other, order, None, None)
    same = alike and np.array_equal(problem.features, agent.problem.features)
    return with_problem(settings, other, problem, agent.policy if same else other.policy)


def _draw_cases(settings: Settings, agent: Agent) -> tuple[IntArray, npt.NDArray[Any]]:
    """Outcomes and labels of cases as the model has them, at once where it draws them so."""
    model, prior, n, m = agent.model, agent.problem.prior, TUNING.n_order_cases, len(agent.support)
    if hasattr(model, "sample") and np.array_equal(prior, model.class_prior_):
        return model.sample(n, settings.random_state)  # type: ignore[no-any-return]
    rng = as_generator(settings.seed, "cases")
    label = draw_columns(np.tile(prior, (n, 1)), rng.random(n))
    return draw_jointly(model, np.arange(m), model.start(n), label, rng.random((n, m)))[0], agent.classes[label]


def _compare_alike(settings: Settings, before: Prices, after: Prices) -> bool:
    """Whether prices are others, or so many times as much, so that an order made by them would be the same."""
    factor = after.full.sum() / (before.full.sum() or 1.0)
    if factor != 1 and (settings.max_cost is not None or before.after or after.after):
        return False
    same = all(np.array_equal(getattr(before, name), getattr(after, name)) for name in ("groups", "bundles", "after"))
    pairs = ((before.full, after.full), (before.discounted, after.discounted))
    return same and all(np.allclose(factor * one, other, rtol=1e-9, atol=0) for one, other in pairs)


def _recent(settings: Settings, codes: Any, y: Any, weight: FloatArray | None) -> tuple[Any, Any, FloatArray | None]:
    """Rows, labels and weights, where rows fade of the recent ones: not all that looks at them takes weights."""
    if y is None or settings.half_life is None:
        return codes, y, weight
    rows = recent_rows(y, settings.half_life, 1)
    return take_rows(codes, rows), y[rows], None if weight is None else weight[rows]


def replan(
    fit: Fit, settings: Settings, X: Any, y: npt.NDArray[Any], fold: IntArray, number: int, found: Found | None = None
) -> Fit:
    """Calibrate and solve a fit without a fold once more by other settings, in the same order."""
    timings, rows, problem = dict(fit.timings), np.flatnonzero(fold != number), fit.agent.problem
    codes = all_outcomes(fit.agent, take_rows(X, rows))
    order = None if problem.any_order or not problem.n_questions else features_to_ask(fit.agent, whole=True)
    training = (codes, y[rows], timings, fit.weight)
    agent = plan(settings, fit.agent, *training, certify=False, found=found, order=order)
    return replace(fit, settings=settings, agent=agent, timings=timings)


def fit_without(
    settings: Settings,
    X: Any,
    y: npt.NDArray[Any],
    fold: IntArray,
    number: int,
    what: str = "held_out",
    weight: FloatArray | None = None,
    *,
    again: bool = True,
) -> Fit:
    """A fit to all rows but a fold's, not certified; ``again`` where there was one to all rows."""
    rows, n_folds = np.flatnonzero(fold != number), int(fold.max()) + 1
    before = ", though that to all rows did not" if again else ""
    remedy = "give fewer folds, or held_out=0" if what == "held_out" else f"leave {what} out"
    some = None if weight is None else weight[rows]
    if settings.half_life is not None:  # so that the same rows are recent, but for those of the fold
        settings = settings.replace(half_life=settings.half_life * (1 - (fold == number).sum() / (fold >= 0).sum()))
    try:
        with report_progress(f"fold {number + 1} of {n_folds}"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the fit to all rows has warned of
            own = take_rows(X, rows)
            fit = fit_rows(settings, with_texts(own, X, own), y[rows], some, certify=False)
    except ValueError as error:
        raise ValueError(
            f"{what}: the fit without fold {number + 1} of {n_folds} failed{before}: {sentence(error)} Or {remedy}."
        ) from error
    # what the other rows did not show is missing
    fit.agent = replace(fit.agent, handle_unknown="missing")
    return fit


def asking_without(
    settings: Settings, X: Any, y: npt.NDArray[Any], fold: IntArray, number: int, weight: FloatArray | None
) -> Fit:
    """A fit without a fold that is only asked for the next question; see `replan`."""
    return fit_without(_settings_for_asking(settings), X, y, fold, number, weight=weight, again=False)


def calibrate(settings: Settings, X: Any, y: npt.ArrayLike, weight: FloatArray | None = None) -> Found:
    """Exponents by answer, and what each answer was about, along the questions that held-out rows are asked."""
    X, labels, any_order = plain_data(X), plain_labels(y), is_free(settings.order)
    n_folds = TUNING.n_any_order_folds if any_order else TUNING.n_folds
    few = len(recent_rows(labels, settings.half_life, n_folds)) <= TUNING.max_repeated_rows
    repeats = 2 if few and not any_order else 1
    asking = _settings_for_asking(settings)
    if not any_order:
        most = MOST_ANSWERS if settings.max_features is None else min(MOST_ANSWERS, settings.max_features)
        asking = asking.replace(max_features=most)
    parts = []
    for repeat in range(repeats):
        fold = recent_folds(labels, settings.half_life, n_folds, settings.seed + 7919 * repeat)
        for number in range(int(fold.max()) + 1):
            fit = fit_without(asking, X, labels, fold, number, "calibrate", weight)
            parts.append(CalibrationFold.from_fold(fit.agent, X, labels, fold, number, weight))
    return exponents_of([parts], repeats)[0]


def _settings_for_asking(settings: Settings) -> Settings:
    """Settings for a fit that is only asked for the next question, for which most need not be solved."""
    solver = settings.solver if is_free(settings.order) else FirstK(0)
    if isinstance(solver, Solver):
        solver = solver._without_stopping(MOST_FREE)
    settings = settings.replace(calibrate=False)
    return settings if solver is settings.solver else settings.replace(solver=solver, target_cost=None)


def network_solver(random_state: Any = 0, max_seconds: float = 60.0, table_size: int = 0) -> Adaptive:
    """Return the solver for networks where any question may come next: the rules that look at each question once.

    Of a network with large tables (``table_size``) fewer cases are followed, and the answers that they gave alone.

    Among the rules are one step of look-ahead and the myopic rule that practitioners know, which leaves prices out.
    """
    rules = [EC2(), CrossEntropy(), ClassInformation(), ExpectedSaving()]
    return Adaptive(
        rules,
        n_paths=TUNING.n_paths if table_size <= TUNING.heavy_size else TUNING.n_heavy_paths,
        exact_expectation=table_size <= TUNING.heavy_size,
        search_nodes=TUNING.search_nodes,
        one_step=True,
        first_horizon=8,
        max_seconds=max_seconds,
        random_state=random_state,
    )


def take_states(settings: Settings, encoder: FrameEncoder) -> FrameEncoder:
    """Number categories as a model that is given numbers its states, in a data frame of its features."""
    names, states = settings.observation_model._own_names() if settings.prefit else (None, [])  # type: ignore[union-attr]
    if names is None or not all(states) or {*encoder.columns_} != {*names}:
        return encoder
    if encoder.columns_ != names:
        raise ValueError(f"X must have its columns in the order of the model's features: {join_names(names)}.")
    # numbers are states as well, unless they are outcomes or have bins
    taken = names if settings.discretizer is None else encoder.categories_
    encoder.categories_ |= {name: _states(name, own) for name, own in zip(names, states) if name in taken}
    return encoder


def fit_network(settings: Settings, model: DiscreteNetwork) -> Fit:
    """Plan for a network that is given: its columns are the questions, with the states of their nodes."""
    names, encoder = model.questions_, FrameEncoder()
    encoder.columns_, encoder.categories_ = list(names), dict(zip(names, map(_states, names, model.outcomes_)))
    coder = OutcomeCoder(None, dict(enumerate(model.n_outcomes_.tolist())))
    coder.fit_transform(np.zeros((1, len(names))), None)
    return _without_data(settings, model, encoder, coder, model.target if isinstance(model.target, str) else None)


def fit_given(settings: Settings, model: ObservationModel) -> Fit:
    """Plan for a model that is given: its columns are the features, which are told as outcomes."""
    if not isinstance(model, ObservationModel) or not hasattr(model, "classes_"):
        raise ValueError("model must be an observation model that is fitted, such as ItemResponse.from_items(...).")
    coder = OutcomeCoder("precomputed", names=model._own_names()[0])
    coder.fit_transform(np.stack([np.zeros(model.n_features_in_), model.n_outcomes_ - 1.0]), None)
    return _without_data(settings, model, None, coder, None)


def _without_data(
    settings: Settings, model: Any, encoder: FrameEncoder | None, coder: OutcomeCoder, target: str | None
) -> Fit:
    if settings.calibrate:
        raise ValueError("calibrate needs rows, and a model is given without: leave it out.")
    settings.check()
    timings = dict.fromkeys(("discretize", "filter", "structure", "parameters"), 0.0)
    columns, support = Classifier(), np.arange(model.n_features_in_)
    columns.n_features_in_ = model.n_features_in_
    if (names := model._own_names()[0]) is not None:
        columns.feature_names_in_ = np.array(names, dtype=object)
    prices, costs, decisions = resolve_costs(settings, columns, model.classes_, warn=False)
    agent = without_policy(settings, columns, encoder, coder, support, model, prices, costs, decisions, target)
    order = None
    if isinstance(settings.order, str) and not is_free(settings.order):
        # cases serve for the order alone: how they begin and what they cost is known of the model
        with time_step(timings, "order"):
            order = order_features(settings, agent, *_draw_cases(settings, agent))
    return Fit(settings, plan(settings, agent, None, None, timings, order=order), None, timings)


def _states(name: str, states: Sequence[Any]) -> npt.NDArray[Any]:
    """States of a node as categories."""
    spellings = [spelt(state) for state in states]
    if len({*spellings, ""}) <= len(spellings):
        raise ValueError(
            f"node {short_repr(name)}: its states {join_names(states)} must differ by more than blanks at the edges."
        )
    return np.array(spellings)
