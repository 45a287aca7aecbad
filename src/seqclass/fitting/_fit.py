"""From rows to the record that decides: bins, selection, model, order, calibration, plan."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.frames import FrameEncoder, is_frame, plain, spelt, with_texts
from seqclass._utils.progress import telling
from seqclass._utils.text import listed, sentence, shown
from seqclass._utils.validation import columns_of, plain_labels
from seqclass.bn import DiscreteNetwork, NaiveBayes, ObservationModel
from seqclass.bn.ordering import check_order
from seqclass.costs import Prices, warn_of_money
from seqclass.deciding._coding import OutcomeCoder, category_counts, check_training
from seqclass.deciding._seen_rows import SeenRows, both_marks
from seqclass.deciding.calibration import Calibration
from seqclass.deciding.decider import Classifier, Decider
from seqclass.deciding.problem import acquisition_problem, is_free
from seqclass.fitting._calibration import MOST_ANSWERS, Asked, Following, Part, by_column, exponents_of
from seqclass.fitting._doubts import warn_of_doubts
from seqclass.fitting._folds import recent_folds, recent_rows
from seqclass.fitting._planning import judge, ordered, rules_of, solved, staged, with_needless
from seqclass.fitting._settings import Settings
from seqclass.fitting._steps import filter_features, fit_model, given_model, prefitted, rows_of, timed, weighted
from seqclass.pomdp import EC2, Adaptive, ClassInformation, CrossEntropy, ExpectedSaving, FirstK, Panels

#: Folds, which up to so many rows are drawn twice, each time for half; and where any question may come next.
_FOLDS, _FEW_ROWS, _FREE_FOLDS = 10, 500, 5
#: Cases of a network that values are fitted to: each answer takes two passes of messages.
#: Beyond so many numbers in the tables there is time for fewer.
_PATHS, _FEWER_PATHS, _HEAVY = 1000, 500, 40_000
#: Partial answers that a search over all orders looks at there: what it finds has a cost that is known.
_NODES = 1000
#: Cases of a network that an order is found on, where it needs data.
_CASES = 5000

#: What rows held out ask for: how far answers are trusted, and what each was about.
Found = tuple[Calibration, Asked]


@dataclass(eq=False)
class Fit:
    """A record, how it came about, and how long the steps took."""

    settings: Settings
    decider: Decider
    selector: Any = None
    timings: dict[str, float] = field(default_factory=dict)
    #: Features, labels and weights of all rows, to hold some out; none of a fold's.
    rows: tuple[Any, Any, FloatArray | None] | None = None
    #: Weights of the rows that it was planned on.
    weight: FloatArray | None = None


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
    X, y, weight = weighted(X, y, weight)
    given, timings, columns = (X, y, weight), dict[str, float](), Classifier()
    if settings.prefit:
        settings = settings.but(observation_model=given_model(settings.observation_model))
    X, y, encoder = check_training(columns, X, y, network_encoder(settings, X))
    classes = np.unique(y)
    coder = OutcomeCoder(settings.discretizer, category_counts(encoder), settings.missing == "informative")
    prices, costs, decisions = money(settings, columns, classes, certify)
    with timed(timings, "discretize"):
        codes = coder.fit_transform(X, y)
    with timed(timings, "filter"):
        names = getattr(columns, "feature_names_in_", None)
        selector, support = filter_features(settings.selector, *_recent(settings, codes, y, weight)[:2], names)
        codes = codes if selector is None else codes[:, support]
    if settings.prefit:
        if weight is not None:
            raise ValueError("sample_weight: with prefit=True the model learns nothing; leave it out.")
        model = prefitted(settings.observation_model, coder, support, classes, timings)
        prices, costs, decisions = money(settings, columns, model.classes_, warn=False)
    else:
        model = unfitted(settings, columns, prices, support, coder)
        model = fit_model(model, codes, y, coder.n_outcomes_[support], timings, weight)
    sizes = np.bincount(np.searchsorted(classes, y), minlength=len(classes))
    decider = undecided(settings, columns, encoder, coder, support, model, prices, costs, decisions, name)
    if certify:
        warn_of_doubts(encoder, coder, X, classes, sizes, decider.feature_names, name)
    decider = planned(settings, decider, codes, y, timings, weight, rows=given, certify=certify, found=found)
    if certify:
        decider = replace(decider, seen=both_marks([SeenRows.of(marks) for marks in decider.marks(X, y)]))
    return Fit(settings, decider, selector, timings, given if certify else None, weight)


def money(
    settings: Settings, columns: Classifier, classes: npt.NDArray[Any], warn: bool = True
) -> tuple[Prices, FloatArray, npt.NDArray[Any]]:
    """Prices, and costs and labels of decisions, once columns and classes are known."""
    names, given = getattr(columns, "feature_names_in_", None), settings.costs
    known = known_columns(settings, columns)
    if known.size and isinstance(given.feature_costs, Mapping):  # of what is known nobody has to say a price
        own = known.tolist() if names is None else names[known].tolist()
        given = clone(given).set_params(feature_costs=dict.fromkeys(own, 0.0) | dict(given.feature_costs))
    prices = without_price(given.prices(columns.n_features_in_, names), known, names)
    rules_of(settings, columns.n_features_in_, names)
    costs, decisions = settings.costs.of_decisions(classes)
    if warn:
        warn_of_money(prices.discounted, costs)
    return prices, costs, decisions


def known_columns(settings: Settings, columns: Classifier) -> IntArray:
    """Columns that are known at the start, in rising order."""
    given, n = settings.known, columns.n_features_in_
    if isinstance(given, (str, int)):
        raise ValueError(f"known must be a list of columns, such as known=[{given!r}], got {shown(given)}.")
    if given is None or not len(given := list(given)):
        return np.empty(0, dtype=np.intp)
    names = getattr(columns, "feature_names_in_", None)
    known = np.sort(check_order(given, n, names, what="known"))
    if len(known) == n:
        raise ValueError("known names all columns, so that there is nothing to ask: leave out what has to be asked.")
    if isinstance(settings.known, Mapping):
        others = [column for column in settings.known.values() if column is not None]
        asked = columns_of(others, n, names, "known")
        if twice := np.intersect1d(asked, known).tolist():
            name = shown(twice[0] if names is None else str(names[twice[0]]))
            raise ValueError(f"known names {name} both as known and as needless: nobody is asked for what is known.")
        if others and not is_free(settings.order):
            raise ValueError(
                'known: a fixed order asks everybody the same, so that nothing is needless: take order="adaptive", or '
                "give known as a list."
            )
    if not isinstance(settings.order, str):
        twice = np.intersect1d(check_order(settings.order, n, names), known)
        if twice.size:
            name = shown(int(twice[0]) if names is None else str(names[twice[0]]))
            raise ValueError(f"order names {name}, which is known at the start: leave it out of one of the two.")
    return known


def without_price(prices: Prices, known: IntArray, names: Any) -> Prices:
    """The same prices, but nothing for what is known at the start, which is of no group and no bundle."""
    if not known.size:
        return prices
    full, discounted, groups, bundles = (
        None if part is None else part.copy()
        for part in (prices.full, prices.discounted, prices.groups, prices.bundles)
    )
    if bundles is not None:
        own = np.isin(np.arange(len(bundles)), known)
        part = (bundles >= 0) & own & np.isin(bundles, bundles[~own])
        if part.any():
            column = int(part.argmax())
            name = shown(column if names is None else str(names[column]))
            raise ValueError(
                f"known names {name}, one of the bundle {shown(prices.bundle_names[bundles[column]])}: name all of the "
                "bundle, or none."
            )
    assert full is not None
    assert discounted is not None
    full[known] = discounted[known] = 0.0
    for labels in (groups, bundles):
        if labels is not None:
            labels[known] = -1
    return replace(prices, full=full, discounted=discounted, groups=groups, bundles=bundles)


def unfitted(
    settings: Settings, columns: Classifier, prices: Prices, support: IntArray, coder: OutcomeCoder
) -> ObservationModel:
    """A model to fit, which knows of the columns that are its features, and which of their outcomes are missing."""
    model = NaiveBayes() if settings.observation_model is None else clone(settings.observation_model)
    model = model._among(support, getattr(columns, "feature_names_in_", None), prices.take(support).bundles)
    if coder.missing_ is not None and coder.missing_[support].any():
        model._apart = coder.missing_[support]
    return model


def with_names(columns: Classifier, support: IntArray, model: ObservationModel) -> ObservationModel:
    """A fitted model, with the names of its features where it has none of its own."""
    names = getattr(columns, "feature_names_in_", None)
    if names is not None and vars(model).get("feature_names_", names) is None:
        model.feature_names_ = names[support].tolist()
    return model


def undecided(
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
) -> Decider:
    """A record that asks nothing yet."""
    model = model if settings.prefit else with_names(columns, support, model)
    problem = acquisition_problem(model, np.empty(0, dtype=np.intp), prices.take(support), costs)
    policy = FirstK(0, certificate_paths=0).solve(problem)
    charge, unknown = settings.costs.charge_missing, settings.handle_unknown
    return Decider(
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
        known=np.flatnonzero(np.isin(support, known_columns(settings, columns))),
    )


def planned(
    settings: Settings,
    decider: Decider,
    codes: Any,
    y: Any,
    timings: dict[str, float],
    weight: FloatArray | None = None,
    *,
    rows: tuple[Any, Any, Any] | None = None,
    certify: bool = True,
    found: Found | None = None,
    order: IntArray | None = None,
) -> Decider:
    """Order, make the problem, calibrate on rows of the data if wanted, and solve."""
    decider = with_needless(settings, decider, codes)
    recent, labels, recent_weight = _recent(settings, codes, y, weight)
    if order is None:
        with timed(timings, "order"):
            order = ordered(settings, decider, recent, labels)
    problem = staged(settings, decider, order, codes, weight)
    if settings.calibrate:
        with timed(timings, "calibrate"):
            calibration, asked = found or calibrate(settings, *rows)  # type: ignore[misc]
            exponents = by_column(problem, decider.support, decider.n_features, calibration.exponents, asked)
            exponents[decider.support[decider.known]] = 1.0  # beliefs at the start stay what the others go on from
            model = decider.model.tempered(exponents[decider.support])
            decider = replace(decider, model=model, calibration=calibration)
            problem = staged(settings, decider, order, codes, weight)
    with timed(timings, "solve", without="certify"):
        decider = solved(settings, decider, problem, certify, recent, labels, recent_weight)
        if y is not None:
            decider = judge(settings, decider, recent, labels, recent_weight, certify)
        timings["certify"] = decider.policy.info.certify_seconds
    return decider


def _recent(settings: Settings, codes: Any, y: Any, weight: FloatArray | None) -> tuple[Any, Any, FloatArray | None]:
    """Rows, labels and weights, where rows fade of the recent ones: not all that looks at them takes weights."""
    if y is None or settings.half_life is None:
        return codes, y, weight
    rows = recent_rows(y, settings.half_life, 1)
    return rows_of(codes, rows), y[rows], None if weight is None else weight[rows]


def replanned(
    fit: Fit, settings: Settings, X: Any, y: npt.NDArray[Any], fold: IntArray, number: int, found: Found | None = None
) -> Fit:
    """Calibrate and solve a fit without a fold once more by other settings, in the same order."""
    timings, rows, problem = dict(fit.timings), np.flatnonzero(fold != number), fit.decider.problem
    codes = fit.decider.outcomes(rows_of(X, rows))
    asked = [problem.members(question) for question in range(problem.n_questions)]
    order = None if problem.free or not asked else np.concatenate(asked)
    given = (codes, y[rows], timings, fit.weight)
    decider = planned(settings, fit.decider, *given, certify=False, found=found, order=order)
    return replace(fit, settings=settings, decider=decider, timings=timings)


def fitted_without(
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
        settings = settings.but(half_life=settings.half_life * (1 - (fold == number).sum() / (fold >= 0).sum()))
    try:
        with telling(f"fold {number + 1} of {n_folds}"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the fit to all rows has warned of
            own = rows_of(X, rows)
            fit = fit_rows(settings, with_texts(own, X, own), y[rows], some, certify=False)
    except ValueError as error:
        raise ValueError(
            f"{what}: the fit without fold {number + 1} of {n_folds} failed{before}: {sentence(error)} Or {remedy}."
        ) from error
    # what the other rows did not show is missing
    fit.decider = replace(fit.decider, handle_unknown="missing")
    return fit


def asking_without(
    settings: Settings, X: Any, y: npt.NDArray[Any], fold: IntArray, number: int, weight: FloatArray | None
) -> Fit:
    """A fit without a fold that is only asked for the next question; see `replanned`."""
    return fitted_without(_asking(settings), X, y, fold, number, weight=weight, again=False)


def calibrate(settings: Settings, X: Any, y: npt.ArrayLike, weight: FloatArray | None = None) -> Found:
    """Exponents by answer, and what each answer was about, along the questions that held-out rows are asked."""
    X, labels, free = plain(X), plain_labels(y), is_free(settings.order)
    n_folds = _FREE_FOLDS if free else _FOLDS
    few = len(recent_rows(labels, settings.half_life, n_folds)) <= _FEW_ROWS
    repeats = 2 if few and not free else 1
    asking = _asking(settings)
    if not free:
        most = MOST_ANSWERS if settings.max_features is None else min(MOST_ANSWERS, settings.max_features)
        asking = asking.but(max_features=most)
    parts = []
    for repeat in range(repeats):
        fold = recent_folds(labels, settings.half_life, n_folds, settings.seed + 7919 * repeat)
        for number in range(int(fold.max()) + 1):
            fit = fitted_without(asking, X, labels, fold, number, "calibrate", weight)
            parts.append(Part.without(fit.decider, X, labels, fold, number, weight))
    return exponents_of([parts], repeats)[0]


def _asking(settings: Settings) -> Settings:
    """Settings for a fit that is only asked for the next question, for which most need not be solved."""
    solver = settings.solver if is_free(settings.order) else FirstK(0)
    if isinstance(solver, Panels) and solver.solver is not None:  # what is asked next, not what is ordered with it
        solver = solver.solver
    if isinstance(solver, Adaptive) and solver.rules is not None and len(solver.rules) == 1 and not solver.max_rounds:
        solver = Following(solver)
    settings = settings.but(calibrate=False)
    return settings if solver is settings.solver else settings.but(solver=solver, target_cost=None)


class Folds:
    """Fits without a fold each, and what is asked for beside it."""

    def __init__(
        self, X: Any, y: npt.NDArray[Any], fold: IntArray, fits: Sequence[Fit], weight: FloatArray | None = None
    ) -> None:
        self.given, self.fits, self.weight = (X, y, fold), fits, weight

    @cached_property
    def _parts(self) -> list[Part]:
        return [Part.without(fit.decider, *self.given, number, self.weight) for number, fit in enumerate(self.fits)]

    @cached_property
    def others(self) -> list[Found]:
        """What all folds but one ask for, for each of them."""
        parts = self._parts
        return exponents_of([parts[:number] + parts[number + 1 :] for number in range(len(parts))], 1)

    def found(self) -> Found:
        """What all folds together ask for."""
        return exponents_of([self._parts], 1)[0]


def network_solver(random_state: Any = 0, max_seconds: float = 60.0, table_size: int = 0) -> Adaptive:
    """Return the solver for networks where any question may come next: the rules that look at each question once.

    Of a network with large tables (``table_size``) fewer cases are followed, and the answers that they gave alone.

    Among the rules are one step of look-ahead and the myopic rule that practitioners know, which leaves prices out.
    """
    rules = [EC2(), CrossEntropy(), ClassInformation(), ExpectedSaving()]
    return Adaptive(
        rules,
        n_paths=_PATHS if table_size <= _HEAVY else _FEWER_PATHS,
        exact_expectation=table_size <= _HEAVY,
        search_nodes=_NODES,
        one_step=True,
        first_horizon=8,
        max_seconds=max_seconds,
        random_state=random_state,
    )


def network_encoder(settings: Settings, X: Any) -> FrameEncoder | None:
    """What a network that is given makes of the states in a data frame of its questions; None of anything else."""
    model = settings.observation_model
    if not settings.prefit or not isinstance(model, DiscreteNetwork) or settings.discretizer is not None:
        return None
    if not is_frame(X := plain(X)) or {*X.columns} != {*model.questions_}:
        return None
    if list(X.columns) != model.questions_:
        raise ValueError(
            f"X must have its columns in the order of the network's questions: {listed(model.questions_)}."
        )
    return _encoder(model)


def _encoder(model: DiscreteNetwork) -> FrameEncoder:
    encoder = FrameEncoder()
    encoder.columns_ = list(model.questions_)
    encoder.categories_ = {name: _states(name, states) for name, states in zip(model.questions_, model.outcomes_)}
    return encoder


def fit_network(settings: Settings, model: DiscreteNetwork) -> Fit:
    """Plan for a network that is given: its columns are the questions, with the states of their nodes."""
    names, encoder = model.questions_, _encoder(model)
    coder = OutcomeCoder(None, dict(enumerate(model.n_outcomes_.tolist())))
    coder.fit_transform(np.zeros((1, len(names))), None)
    return _without_data(
        settings, model, names, encoder, coder, model.target if isinstance(model.target, str) else None
    )


def fit_given(settings: Settings, model: ObservationModel) -> Fit:
    """Plan for a model that is given: its columns are the features, which are told as outcomes."""
    if not isinstance(model, ObservationModel) or not hasattr(model, "classes_"):
        raise ValueError("model must be an observation model that is fitted, such as ItemResponse.from_items(...).")
    coder = OutcomeCoder("precomputed", {})
    coder.fit_transform(np.stack([np.zeros(model.n_features_in_), model.n_outcomes_ - 1.0]), None)
    return _without_data(settings, model, vars(model).get("feature_names_"), None, coder, None)


def _without_data(
    settings: Settings,
    model: Any,
    names: Sequence[str] | None,
    encoder: FrameEncoder | None,
    coder: OutcomeCoder,
    target: str | None,
) -> Fit:
    settings.check()
    if settings.calibrate:
        raise ValueError("calibrate needs rows, and a model is given without: leave it out.")
    timings = dict.fromkeys(("discretize", "filter", "structure", "parameters"), 0.0)
    columns, support = Classifier(), np.arange(model.n_features_in_)
    columns.n_features_in_ = model.n_features_in_
    if names is not None:
        columns.feature_names_in_ = np.array(names, dtype=object)
    prices, costs, decisions = money(settings, columns, model.classes_, warn=False)
    decider = undecided(settings, columns, encoder, coder, support, model, prices, costs, decisions, target)
    order = None
    if isinstance(settings.order, str) and not is_free(settings.order):
        if not hasattr(model, "sample"):
            raise ValueError(
                f"order={settings.order!r} needs cases, and {type(model).__name__} draws none: give the columns in "
                "order."
            )
        # cases serve for the order alone: how they begin and what they cost is known of the model
        with timed(timings, "order"):
            order = ordered(settings, decider, *model.sample(_CASES, settings.random_state))
    return Fit(settings, planned(settings, decider, None, None, timings, order=order), None, timings)


def _states(name: str, states: Sequence[Any]) -> npt.NDArray[Any]:
    """States of a node as categories."""
    found = [spelt(state) for state in states]
    if len({*found, ""}) <= len(found):
        raise ValueError(
            f"node {shown(name)}: its states {listed(states)} must differ by more than blanks at the edges."
        )
    return np.array(found)
