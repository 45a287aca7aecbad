"""What must hold of a model that was read from a file, beyond what its digest tells, which anyone can write."""

from __future__ import annotations

from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import FloatArray
from seqclass._utils.frames import FrameEncoder, spelt
from seqclass._utils.model_files import check_when_read
from seqclass._utils.validation import check_costs, check_distribution, check_support
from seqclass.bn import (
    ClassMixture,
    ContextBayes,
    DiscreteNetwork,
    InformationFilter,
    ItemResponse,
    NaiveBayes,
    NetworkTables,
    ObservationModel,
    SkillProfile,
    TreeNetwork,
)
from seqclass.bn._parameters import check_cpds, check_feature_names, check_state_names
from seqclass.bn.contexts import StageContexts
from seqclass.bn.item_parameters import ItemParameters
from seqclass.bn.mixture import HiddenStates
from seqclass.costs import Costs, Prices, Visits
from seqclass.deciding._coding import OutcomeCoder, category_counts
from seqclass.deciding._seen_rows import SeenRows, check_seen
from seqclass.deciding.calibration import Calibration, check_calibration
from seqclass.deciding.decider import Classifier, Decider
from seqclass.deciding.problem import ModelProblem, ProjectedProblem
from seqclass.deciding.session import expected_saving
from seqclass.discretize import Discretizer
from seqclass.evaluation.contract import CertifiedError, GroupRisk, Rung
from seqclass.fitting._chunked import Kept
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp import DECIDE, AcquisitionProblem, MixtureProblem, OrderingRule, Policy, SolveInfo, TableProblem
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.alpha import AlphaSet, AlphaVectors
from seqclass.pomdp.bounds.certificate import SCOPES
from seqclass.pomdp.bounds.repeats import LogOddsLine, RepeatValues, has_repeats
from seqclass.pomdp.bridge.planner import PomdpPyPolicy
from seqclass.pomdp.bundles import Bundle, DrawnBundle
from seqclass.pomdp.policy import LookaheadPolicy, OrderingChoice, RepricedPolicy
from seqclass.pomdp.rules import QuestionRules
from seqclass.pomdp.solvers.exact import LineSet
from seqclass.pomdp.solvers.exact_free_order import PlannedPolicy
from seqclass.pomdp.solvers.fitted import BeliefFunctions, FittedValues, StageSaving
from seqclass.pomdp.solvers.grid import GridValues
from seqclass.pomdp.solvers.ordering.adaptive import ImprovedRule
from seqclass.pomdp.solvers.ordering.values import RulePolicy, RuleValues
from seqclass.pomdp.solvers.simple import OrderBoundPolicy
from seqclass.pomdp.solvers.thresholds import LinearThresholdPolicy
from seqclass.pomdp.starts import Starts
from seqclass.pomdp.sweeps.budget import RandomisedPolicy
from seqclass.pomdp.sweeps.ladder import StopWhenSure
from seqclass.pomdp.sweeps.solving import InterpolatedValues
from seqclass.pomdp.table_problem import check_table
from seqclass.pomdp.values import ProjectedValues, ValueFunction
from seqclass.pomdp.walk import first_open
from seqclass.selection._base import Selector


def need(holds: bool | np.bool_, otherwise: str) -> None:
    """Raise a ValueError that says what is wrong."""
    if not holds:
        raise ValueError(f"{otherwise}, so its parts do not belong together")


def fitted(instance: Any) -> bool:
    """Whether anything was learnt."""
    return any(name.endswith("_") for name in vars(instance))


def array(value: Any, name: str, kinds: str, *shape: int | None) -> Any:
    """Check an array's kind and shape (None: any length); numbers must be no NaN."""
    fits = isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == len(shape)
    need(fits and all(w in (None, n) for w, n in zip(shape, value.shape)), f"{name} is not the array it should be")
    return value


def numbers(value: Any, name: str, *shape: int | None) -> Any:
    """Check an array of finite numbers."""
    need((np.isfinite(array(value, name, "f", *shape)).all()), f"{name} is not finite")
    return value


def whole(value: Any, name: str, low: int, high: int = 2**62) -> int:
    """Check a whole number."""
    need(
        isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= value <= high,
        f"{name} is wrong",
    )
    return int(value)


#: Rows and stages of the rehearsal of a policy.
_ROWS = 8
_STAGES = 200
#: Most look-ahead, in outcomes that follow one another.
_MOST_AHEAD = 10**7


def check_classifier(clf: DecidingClassifier) -> None:
    """Check what a fitted classifier holds; raises where something does not fit."""
    if not fitted(clf):
        return
    need(isinstance(vars(clf).get("decider_"), Decider), "decider_ is of another kind")
    need(
        isinstance(Costs.of(clf.feature_costs).charge_missing, (bool, np.bool_)),
        "charge_missing is neither true nor false",
    )
    Costs.of(clf.feature_costs).unit_name()
    need(clf.handle_unknown in ("error", "missing"), "handle_unknown is wrong")
    need(isinstance(vars(clf).get("timings_"), dict), "timings_ is no table")
    held, kept = vars(clf).get("held_out_"), vars(clf).get("kept_")
    need(held is None or isinstance(held, HeldOut), "held_out_ is of another kind")
    need(kept is None or isinstance(kept, Kept), "kept_ is of another kind")


def check_decider(decider: Decider) -> None:
    """Check what a record is put together of; raises where something does not fit."""
    need(isinstance(decider.columns, Classifier), "columns are of another kind")
    n = whole(decider.n_features, "n_features_in_", 1)
    if decider.feature_names is not None:
        names = array(decider.feature_names, "feature_names_in_", "OU", n).tolist()
        need(
            all(isinstance(name, str) for name in names) and len(set(names)) == n,
            "feature_names_in_ is no list of names",
        )
    classes = check_classes(decider.classes)
    _check_decisions(decider, classes)
    support = array(decider.support, "support", "iu", None)
    need(len(support) > 0 and support[0] >= 0 and (np.diff(support) > 0).all() and support[-1] < n, "support is wrong")
    need(isinstance(decider.coder, OutcomeCoder) and len(decider.coder.n_outcomes_) == n, "coder is of other features")
    need(isinstance(decider.prices, Prices) and len(decider.prices.full) == n, "prices are of other features")
    need(type(decider.charge_missing) is bool, "charge_missing is neither true nor false")
    need(type(decider.unit) is str, "unit is no text")
    known = array(decider.known, "known", "iu", None)
    need(bool((np.diff(known) > 0).all()) and known.min(initial=0) >= 0, "known is wrong")
    need(known.max(initial=-1) < len(support), "known is of other features")
    needless = array(decider.needless, "needless", "i", None, None)
    need(needless.size == 0 or len(needless) == len(known), "needless is of other features")
    need(needless.min(initial=-1) >= -1 and needless.max(initial=-1) < len(support), "needless is of other features")
    if decider.differential is not None:
        array(decider.differential.limits, "differential", "f", len(classes))
    begins = decider.problem.starts
    need(len(known) == 0 if begins is None else np.array_equal(begins.features, known), "starts know something else")
    need(decider.handle_unknown in ("error", "missing"), "handle_unknown is wrong")
    _check_encoder(decider, n)
    _check_model(decider, classes)
    problem, policy = decider.problem, decider.policy
    need(isinstance(policy, Policy) and policy.problem is problem, "policy is of another problem")
    need(decider.seen is None or isinstance(decider.seen, SeenRows), "seen is of another kind")
    calibration = decider.calibration
    need(calibration is None or isinstance(calibration, Calibration), "calibration is of another kind")
    need(isinstance(decider.target_name, (str, type(None))), "target_name is no name")


def check_contract(contract: CertifiedError) -> None:
    """Check that a certified classifier is of the rule that was chosen."""
    need(type(contract.certified) is bool and type(contract.rungs) is tuple, "it says nothing")
    need(all(isinstance(rung, Rung) and len(rung.groups) > 0 for rung in contract.rungs), "a rule is none")
    for name in ("alpha", "delta", "reachable"):
        need(type(getattr(contract, name)) is float, f"{name} is no number")
    for rung in contract.rungs:
        need(
            type(rung.groups) is tuple and all(isinstance(group, GroupRisk) for group in rung.groups), "groups are none"
        )
    chosen = contract.rungs[whole(contract.chosen, "chosen", 0, len(contract.rungs) - 1)]
    need(chosen.certified is contract.certified, "another rule was chosen")
    need(isinstance(contract.classifier, DecidingClassifier) is contract.certified, "it has another classifier")


def check_held_out(held: HeldOut) -> None:
    """Check the rows of a held-out cost, and that its yardsticks are of the same folds."""
    fold = array(held.fold, "fold", "i", None)
    n = int((fold >= 0).sum())
    need(n > 0 and fold.min() >= -1 and len(np.unique(fold[fold >= 0])) == fold.max() + 1 > 1, "its folds are wrong")
    for name in ("prices", "decision_costs", *["weights"] * (held.weights is not None)):
        need(numbers(getattr(held, name), name, n).min() >= 0, f"{name} are wrong")
    array(held.errors, "errors", "b", n)
    for name in ("decisions", "counts"):
        need(array(getattr(held, name), name, "i", n).min() >= 0, f"{name} are wrong")
    need(type(held.name) is str and all(type(remedy) is str for remedy in held.remedies), "its texts are none")
    need(
        type(held.max_decision_cost) is float and held.max_decision_cost >= held.decision_costs.max(),
        "dearest is wrong",
    )
    need(type(held.expected_cost) is float, "expected_cost is no number")
    for other in (held.deciding_at_once, held.linear):
        same = isinstance(other, HeldOut) and np.array_equal(other.fold, fold)
        need(other is None or same, "a yardstick is of other folds")


def _check_decisions(decider: Decider, classes: Any) -> None:
    decisions = array(decider.decisions, "decisions_", "OUSbiufc", None)
    different = len(set(decisions.tolist())) == len(decisions)
    need(different and decisions[: len(classes)].tolist() == classes.tolist(), "decisions_ do not begin with classes_")
    costs = array(decider.decision_costs, "decision_costs_", "f", len(classes), len(decisions))
    need(np.array_equal(costs, decider.problem.decision_costs), "decision_costs_ are not those of problem_")


def _check_encoder(decider: Decider, n: int) -> None:
    encoder = decider.encoder
    need(encoder is None or (isinstance(encoder, FrameEncoder) and len(encoder.columns_) == n), "encoder_ is wrong")
    need(category_counts(encoder) == decider.coder.categories, "coder_ has other categories than encoder_")
    if encoder is not None and decider.feature_names is not None:
        need([str(c) for c in encoder.columns_] == decider.feature_names.tolist(), "encoder_ has other columns")


def _check_model(decider: Decider, classes: Any) -> None:
    model, problem, support = decider.model, decider.problem, decider.support
    need(np.array_equal(model.classes_, classes), "model_ has other classes")
    need(model.n_features_in_ == len(support), "model_ has other features")
    need(np.array_equal(model.n_outcomes_, decider.coder.n_outcomes_[support]), "model_ has other outcomes than coder_")
    need(problem.n_classes == len(classes), "problem_ has other classes")
    need(problem.features.max(initial=-1) < len(support), "problem_ has other features")
    single = np.array([problem.bundle(question) is None for question in range(problem.n_questions)], dtype=bool)
    shown = problem.features[single]
    need(np.array_equal(problem.n_outcomes[single], model.n_outcomes_[shown]), "problem_ has other outcomes")


def check_classes(classes: Any) -> Any:
    """Check labels of classes."""
    found = array(classes, "classes_", "OUSbiufc", None)
    values = found.tolist()
    need(len(found) > 0 and all(a < b for a, b in pairwise(values)), "classes_ are not sorted")
    return found


def check_coder(coder: OutcomeCoder) -> None:
    """Check what turns features into outcomes."""
    need(hasattr(coder, "discretizer"), "discretizer is missing")
    if not fitted(coder):
        return
    n_outcomes = array(coder.n_outcomes_, "n_outcomes_", "iu", None)
    n = len(n_outcomes)
    need(type(coder.categories) is dict, "categories is no table")
    known = np.array([whole(j, "a categorical column", 0, n - 1) for j in coder.categories], dtype=np.intp)
    if coder.missing_ is not None:
        array(coder.missing_, "missing_", "b", n)
    own, sizes = coder.own_outcomes, {j: whole(k, "a number of categories", 0) for j, k in coder.categories.items()}
    need(n_outcomes.min(initial=1) >= 1 and own.min(initial=1) >= 1, "n_outcomes_ holds less than 1")
    need(all(own[j] == max(1, k) for j, k in sizes.items()), "categories")
    numeric = np.setdiff1d(np.arange(n), known)
    need(np.array_equal(array(coder.numeric_, "numeric_", "iu", None), numeric), "numeric_ is wrong")
    array(coder.example_, "example_", "biuf", 1, n)
    inner = coder.discretizer_
    need(inner is None or hasattr(inner, "transform"), "discretizer_ is none")
    if isinstance(inner, Discretizer):
        need(np.array_equal(inner.n_outcomes_, own[numeric]), "discretizer_ has other outcomes")
    if coder.range_ is not None:
        array(coder.range_, "range_", "f", 2, n)


def check_discretizer(discretizer: Discretizer) -> None:
    """Check the bins of a discretiser."""
    if not fitted(discretizer):
        return
    n = whole(discretizer.n_features_in_, "n_features_in_", 1)
    edges = array(discretizer.bin_edges_, "bin_edges_", "f", n, None)
    low, high = array(discretizer.own_bins_, "own_bins_", "f", n, 2).T
    own = ~np.isnan(low)
    need(bool((own == ~np.isnan(high)).all() and (low <= high)[own].all()), "own_bins_ have no ends")
    n_outcomes = array(discretizer.n_outcomes_, "n_outcomes_", "iu", n)
    array(discretizer.few_values_, "few_values_", "i", n, 2)
    need(type(discretizer.zero_first_) is bool, "zero_first_ is neither true nor false")
    need(not np.isnan(edges).any() and not np.isneginf(edges).any(), "bin_edges_ holds no numbers")
    inner = np.isfinite(edges)
    with np.errstate(invalid="ignore"):
        rising = (np.diff(edges, axis=1) >= 0) | ~inner[:, 1:]
    need(bool(rising.all()) and bool((inner[:, :-1] | ~inner[:, 1:]).all()), "bin_edges_ do not increase")
    counted = inner.sum(axis=1) + 1 + own
    need(bool(((n_outcomes == counted) | (n_outcomes == 1)).all()), "n_outcomes_ are not those of bin_edges_")


def check_encoder(encoder: FrameEncoder) -> None:
    """Check the categories of a data frame."""
    if not fitted(encoder):
        return
    need(type(encoder.columns_) is list and type(encoder.categories_) is dict, "its columns are no list")
    need(len(set(encoder.columns_)) == len(encoder.columns_), "two columns are of one name")
    for name, categories in encoder.categories_.items():
        need(name in encoder.columns_, "there is a category of no column")
        values = array(categories, "categories", "U", None).tolist()
        need(len(set(values)) == len(values), "two categories are alike")
        need(all(spelt(value) == value for value in values), "categories have blanks at their edges")


def _check_groups(given: Any, n: int) -> None:
    if given is not None:
        groups = array(given, "groups", "iu", n)
        need(groups.min(initial=-1) >= -1 and groups.max(initial=-1) <= 10**7, "groups are wrong")


def check_prices(prices: Prices) -> None:
    """Check prices of features."""
    full = check_costs(array(prices.full, "full", "f", None), "full")
    discounted = check_costs(array(prices.discounted, "discounted", "f", len(full)), "discounted")
    need(bool((discounted <= full).all()), "discounted prices are above full ones")
    _check_groups(prices.groups, len(full))
    if prices.bundles is not None:
        bundles = array(prices.bundles, "bundles", "iu", len(full))
        known = bundles.min(initial=-1) >= -1 and bundles.max(initial=-1) < len(prices.bundle_names)
        need(bool(known), "bundles are wrong")
    _check_visits(prices.visits, len(full))


def _check_visits(visits: Any, n: int) -> None:
    if visits is None:
        return
    need(isinstance(visits, Visits), "visits are of another kind")
    check_costs([visits.cost, visits.delay_cost], "costs of visits")
    check_costs(array(visits.delays, "delays", "f", n), "delays")
    need(visits.max_panel is None or whole(visits.max_panel, "max_panel", 1) > 0, "max_panel is wrong")


def rehearse(policy: Policy) -> None:
    """Have a policy act along its stages, where anything that does not fit together fails."""
    if isinstance(policy, PomdpPyPolicy):  # plans anew each time
        return
    problem, rng = policy.problem, np.random.default_rng(0)
    depth = getattr(policy, "depth", 1)
    widest = float(problem.n_outcomes.max(initial=1))
    need(widest ** whole(depth, "depth", 1, 1000) <= _MOST_AHEAD or policy.n_stages < depth, "depth is too large")
    info, probability = policy.begin()
    [lot] = policy.draw(np.zeros((1, 1)))
    need(len(info) == len(probability) and 0 <= lot < len(info), "its lots are wrong")
    info = info[np.arange(_ROWS) % len(info)]
    for _ in range(min(policy.n_stages, _STAGES)):
        asked = policy.act(info)
        need(asked.shape == (len(info),) and asked.dtype.kind == "i", "a policy answers with no numbers")
        on = np.flatnonzero(asked != DECIDE)
        need(bool((asked[on] >= 0).all() and (asked[on] < problem.n_questions).all()), "a policy asks for nothing")
        need(bool(info.open[on, asked[on]].all()), "a policy asks another question")
        question = int(first_open(info)[0] if asked[0] == DECIDE else asked[0])
        if question == DECIDE:
            break
        info = info[np.flatnonzero(info.open[:, question])].asking(question)
        if isinstance(policy, LookaheadPolicy):
            need(not np.isnan(expected_saving(policy, info)).any(), "a policy expects no number")
        need(bool((np.abs(info.predictive.sum(axis=1) - 1) < 1e-6).all()), "outcomes are not sure to come")
        place = (info.predictive.cumsum(axis=1) < rng.random((len(info), 1)) * (1 - 1e-6)).sum(axis=1)
        following = problem.draw(question, info, np.arange(len(info)), rng) if problem.is_sampled(question) else place
        following[0] = -1
        info = info.update(following)
    decision = policy.decide(info.belief)
    need(decision.shape == (len(info),) and bool((decision < problem.n_decisions).all()), "it decides for nothing")


#: Most contexts of a stage that a problem tells apart.
_MOST_CONTEXTS = 2**16
#: Counts that add up to a number still.
_MOST_COUNTED = 1e100


def check_problem(problem: AcquisitionProblem) -> None:
    """Check an acquisition problem."""
    prior = numbers(problem.prior, "prior", None)
    check_distribution(prior, None, "prior")
    prices = check_costs(numbers(problem.prices, "prices", None), "prices")
    costs = check_costs(numbers(problem.decision_costs, "decision_costs", len(prior), None), "decision_costs")
    full = check_costs(numbers(problem.full_prices, "full_prices", len(prices)), "full_prices")
    need(bool((full >= prices).all()), "prices are wrong")
    need(costs.shape[1] > 0, "decision_costs are wrong")
    need(np.array_equal(problem.perfect_cost, costs.min(axis=1)), "perfect_cost is not that of decision_costs")
    n_outcomes: Any = array(problem.n_outcomes, "n_outcomes", "i", len(prices))
    need(n_outcomes.min(initial=1) >= 1, "n_outcomes holds less than 1")
    features = array(problem.features, "features", "i", len(prices))
    need(features.min(initial=0) >= 0 and len(np.unique(features)) == len(features), "features are wrong")
    _check_groups(problem.groups, len(prices))
    _check_visits(problem.visits, len(prices))
    need(type(problem.free) is bool, "free is neither true nor false")
    if problem.starts is not None:
        _check_starts(problem, len(prior))
    for name in ("max_questions", "max_cost", "cut_at"):
        limit = getattr(problem, name)
        need(limit is None or (problem.free != (name == "cut_at") and 0 <= limit < np.inf), f"{name} is wrong")
    if problem.rules is not None:
        need(isinstance(problem.rules, QuestionRules) and problem.free, "rules are of another kind")
        _check_rules(problem.rules, len(prices))
    if problem.bundles is not None:
        known = all(bundle is None or isinstance(bundle, Bundle) for bundle in problem.bundles)
        need(known and len(problem.bundles) == len(prices), "bundles are of other questions")
    if isinstance(problem, TableProblem):
        _check_tables(problem)
    elif isinstance(problem, ModelProblem):
        _check_model_problem(problem)
    elif isinstance(problem, MixtureProblem):
        _check_mixture(problem)


def _check_rules(rules: QuestionRules, n: int) -> None:
    n_areas = len(array(rules.at_least, "at_least", "i", None))
    area = array(rules.area, "area", "i", n)
    need(area.min(initial=-1) >= -1 and area.max(initial=-1) < n_areas, "areas are wrong")
    array(rules.at_most, "at_most", "i", n_areas)
    array(rules.enemies, "enemies", "b", None, n)
    for name in ("first", "mandatory"):
        own = array(getattr(rules, name), name, "i", None)
        need(own.min(initial=0) >= 0 and own.max(initial=-1) < n, f"{name} is wrong")
    for names, size in ((rules.areas, n_areas), (rules.questions, n)):
        need(type(names) is tuple and len(names) == size and all(type(x) is str for x in names), "names are wrong")


def _check_starts(problem: AcquisitionProblem, n_classes: int) -> None:
    starts = problem.starts
    need(isinstance(starts, Starts), "starts are of another kind")
    assert isinstance(starts, Starts)
    weight = check_distribution(numbers(starts.weight, "weight", None), None, "weight")
    belief = numbers(starts.belief, "belief", len(weight), n_classes)
    need(bool((belief >= 0).all()) and np.allclose(belief.sum(axis=1), 1), "beliefs at the start are none")
    features = array(starts.features, "features", "i", None)
    apart = len(np.unique(features)) == len(features) and features.min(initial=0) >= 0
    need(apart and not np.isin(features, problem.features).any(), "what is known is asked for")
    array(starts.outcomes, "outcomes", "i", len(weight), len(features))
    if starts.needless is not None:
        array(starts.needless, "needless", "i", len(weight), len(features))
    if isinstance(problem, ModelProblem):
        sizes = problem.model.n_outcomes_[features] if features.max(initial=-1) < problem.model.n_features_in_ else -1
        need(bool((starts.outcomes >= -1).all() and (starts.outcomes < sizes).all()), "outcomes at the start are none")
    elif isinstance(problem, MixtureProblem):
        numbers(starts.state, "state", len(weight), len(problem.hidden_class))
    elif isinstance(problem, TableProblem):
        array(starts.state, "state", "i", len(weight))


def _check_mixture(problem: MixtureProblem) -> None:
    states = problem.hidden_class
    tables = numbers(problem.likelihoods, "likelihoods", problem.n_questions, None, len(states))
    again = MixtureProblem(problem.prior[states] * problem.hidden_prior, states, tables, 0.0)
    need(np.array_equal(problem.member, again.member), "member is not that of hidden_class")
    for bundle, n_outcomes in zip(problem.bundles or (), problem.n_outcomes.tolist()):
        if isinstance(bundle, DrawnBundle):
            known = bundle.tables.shape[2] == len(states) and len(bundle.drawn) == n_outcomes
            need(known, "a bundle is of other hidden states")
    need(np.allclose(problem.prior, again.prior), "hidden_prior is wrong")
    need(bool((problem.n_outcomes <= tables.shape[1]).all()), "likelihoods have other outcomes")


def _check_tables(problem: TableProblem) -> None:
    tables, transitions, stages = problem.likelihoods, problem.transitions, problem.n_questions
    if isinstance(tables, np.ndarray):
        numbers(tables, "likelihoods", stages, None, problem.n_classes)
    else:
        need(type(tables) is list and len(tables) == stages, "likelihoods are of other stages")
        known = (isinstance(table, np.ndarray) and table.dtype.kind == "f" for table in tables)
        need(all(known), "a likelihood is no array of numbers")
    if transitions is not None:
        need(type(transitions) is list, "transitions are no list")
        for following in transitions:
            array(following, "a transition", "i", None, None)
    problem._check_tables()


def _check_model_problem(problem: ModelProblem) -> None:
    model = problem.model
    need(isinstance(model, ObservationModel) and len(model.classes_) == problem.n_classes, "model has other classes")
    for question in range(problem.n_questions):
        members, bundle = problem.members(question), problem.bundle(question)
        need(bool((members < model.n_features_in_).all()), "model has other features")
        n_outcomes = problem.n_outcomes[[question]] if bundle is None else bundle.sizes
        need(np.array_equal(n_outcomes, model.n_outcomes_[members]), "model has other outcomes")
    whole(problem.max_contexts, "max_contexts", 1, _MOST_CONTEXTS)
    if isinstance(problem, ProjectedProblem):
        kept = problem.kept
        need(isinstance(kept, StageContexts) and kept.model is model, "its contexts are of another model")
        need(
            np.array_equal(array(kept.order, "order", "i", None), problem.features), "its contexts are of another order"
        )


def check_bundle(bundle: Bundle) -> None:
    """Check what one question shows of several features."""
    features = array(bundle.features, "features", "i", None)
    need(len(features) > 1 and features.min() >= 0 and len(np.unique(features)) == len(features), "features are wrong")
    sizes = array(bundle.sizes, "sizes", "i", len(features))
    need(sizes.min() >= 1, "sizes are wrong")
    again = Bundle(features, sizes)
    need((bundle.n_complete, bundle.n_codes) == (again.n_complete, again.n_codes), "its outcomes are wrong")


def check_drawn(bundle: DrawnBundle) -> None:
    """Check the outcomes that stand for all of a bundle's."""
    tables = numbers(bundle.tables, "tables", len(bundle.sizes), None, None)
    need(tables.shape[1] >= int(bundle.sizes.max()), "tables have other outcomes")
    for table, size in zip(tables, bundle.sizes.tolist()):
        check_table(table, "tables")
        need(not table[size:].any(), "tables have other outcomes")
    check_distribution(bundle.share, tables.shape[2], "share")
    drawn = array(bundle.drawn, "drawn", "i", None)
    need(len(drawn) > 0 and drawn.min() >= 0 and drawn.max() < bundle.n_complete, "drawn holds no outcomes")


def check_grid(grid: SimplexGrid) -> None:
    """Check the points of a grid."""
    points = numbers(grid.points, "points", None, None)
    steps, n_classes = whole(grid.resolution, "resolution", 1, 10**7), points.shape[1]
    need(
        n_classes >= 1 and comb(steps + n_classes - 1, n_classes - 1) == len(points),
        "points are not those of resolution",
    )
    again = SimplexGrid(n_classes, steps)
    need(np.array_equal(points, again.points), "points are not those of resolution")
    need(grid._rank.dtype.kind == "i" and np.array_equal(grid._rank, again._rank), "_rank is not that of resolution")


def check_set(some: AlphaSet) -> None:
    """Check alpha vectors."""
    vectors = numbers(some.vectors, "vectors", None, None)
    numbers(some.everywhere, "everywhere", None, vectors.shape[1])
    if some.pointer is not None:
        pointer = array(some.pointer, "pointer", "iu", None)
        rising = len(pointer) > 1 and pointer[0] == 0 and bool((np.diff(pointer) >= 0).all())
        need(rising and pointer[-1] == len(vectors), "pointer is not that of vectors")
    if isinstance(some, LineSet):
        need(
            vectors.shape[1] == 2 and not np.isnan(array(some.starts, "starts", "f", len(vectors))).any(),
            "starts are wrong",
        )


def check_values(values: ValueFunction) -> None:
    """Check a value function."""
    problem, n_stages = values.problem, whole(values.n_stages, "n_stages", 0)
    need(isinstance(problem, AcquisitionProblem) and n_stages <= problem.n_stages, "values are of another problem")
    n_classes = problem.n_classes
    if isinstance(values, AlphaVectors):
        need(type(values.sets) is list and len(values.sets) == n_stages, "sets are of other stages")
        for stage, some in enumerate(values.sets):
            need(isinstance(some, AlphaSet) and some.vectors.shape[1] == n_classes, "sets are of other classes")
            known = some.pointer is None or len(some.pointer) == _n_contexts(values, stage) + 1
            need(known, "sets are of other contexts")
    elif isinstance(values, GridValues):
        grid = values.grid
        need(isinstance(grid, SimplexGrid) and grid.points.shape[1] == n_classes, "grid is of other classes")
        need(values.interpolation in ("freudenthal", "nearest"), "interpolation is wrong")
        need(type(values.continuation) is list and len(values.continuation) == n_stages, "grid is of other stages")
        for stage, table in enumerate(values.continuation):
            numbers(table, "continuation", _n_contexts(values, stage), len(grid.points))
    elif isinstance(values, FittedValues):
        _check_fitted(values)
    elif isinstance(values, InterpolatedValues):
        need(0 <= float(values.share) <= 1, "share is wrong")
        need(isinstance(values.lower, ValueFunction) and isinstance(values.upper, ValueFunction), "nothing is blended")
        need(n_stages == max(values.lower.n_stages, values.upper.n_stages), "blended values are of other stages")
    elif isinstance(values, ProjectedValues):
        need(isinstance(values.values, ValueFunction) and values.values.n_stages == n_stages, "values do not steer")
        need(isinstance(values.projection, AcquisitionProblem), "nothing is projected")
        weights = getattr(values, "weights", [None] * n_stages)
        need(type(weights) is list and len(weights) == n_stages, "weights are of other stages")
        need(all(w is None or np.isfinite(w).all() for w in weights), "weights are not finite")


def _check_fitted(values: FittedValues) -> None:
    functions, n_classes = values.functions, values.problem.n_classes
    own = isinstance(functions, BeliefFunctions) and functions.problem is values.problem
    need(own, "functions are of another problem")
    need(functions.n_classes == n_classes and 0 < float(functions.unit) < np.inf, "functions are of other classes")
    first = array(functions.first, "first", "i", None)
    second = array(functions.second, "second", "i", len(first))
    known = ((first >= 0) & (first < second) & (second < n_classes)).all()
    need(bool(known) and functions.count == 4 * n_classes + 4 + 2 * len(first), "functions are wrong")
    _check_weights(values.weights, values.n_stages, functions.count)


def _check_weights(weights: Any, n_stages: int, count: int | None) -> None:
    need(type(weights) is list and len(weights) == n_stages, "weights are of other stages")
    for own in weights:
        if own is not None:
            numbers(own, "weights", count)


def _n_contexts(values: ValueFunction, stage: int) -> int:
    """Contexts that values tell apart; those of `SharedVectors` none, of a problem that may have no tables."""
    tables = values.problem.tables
    return 1 if tables is None else tables.n_contexts(stage)


def check_rule_values(values: RuleValues) -> None:
    """Check the cost of going on along an ordering rule."""
    n_stages = whole(values.n_stages, "n_stages", 0)
    need(isinstance(values.problem, AcquisitionProblem) and values.problem.free, "values are of another problem")
    need(isinstance(values.rule, OrderingRule), "values are of no rule")
    _check_weights(values.weights, n_stages, None)
    if isinstance(values.rule, ImprovedRule):
        whole(values.rule.n_candidates, "n_candidates", 1)
        inner = values.rule.values
        need(isinstance(inner, RuleValues) and inner.problem is values.problem, "a rule is improved on other values")
    if isinstance(values.rule, StageSaving):
        need(type(values.rule.vectors) is list and len(values.rule.vectors) > 0, "a rule has no vectors")
        for vectors in values.rule.vectors:
            need(numbers(vectors, "vectors", None, values.problem.n_classes).size > 0, "a stage has no vectors")


def check_policy(policy: Policy) -> None:
    """Check a policy."""
    problem, info = policy.problem, policy.info
    need(isinstance(problem, AcquisitionProblem), "a policy has no problem")
    n_stages = whole(policy.n_stages, "n_stages", 0, problem.n_stages)
    need(isinstance(info, SolveInfo) and type(info.status) is str and info.scope in SCOPES, "info is none of a solver")
    for name in ("upper", "lower", "gap", "confidence", "seconds", "certify_seconds", "n_stages", "size"):
        value = getattr(info, name)
        need(isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**62), f"{name} is no number")
    need(info.ordering is None or isinstance(info.ordering, OrderingChoice), "nothing was chosen")
    if isinstance(policy, LookaheadPolicy):
        values = policy.values
        need(isinstance(values, ValueFunction) and values.n_stages == n_stages, "values are of other stages")
        need(values.problem is problem, "values are of another problem")
    elif isinstance(policy, RulePolicy):
        need(
            isinstance(policy.values, RuleValues) and policy.values.problem is problem, "values are of another problem"
        )
        need(policy.values.n_stages == n_stages, "values are of other stages")
    elif isinstance(policy, LinearThresholdPolicy):
        numbers(policy.thresholds, "thresholds", n_stages, problem.n_decisions, problem.n_classes)
    elif isinstance(policy, RepricedPolicy):
        need(isinstance(policy.policy, Policy) and policy.policy.n_stages == n_stages, "nothing is priced anew")
        need(0 <= float(policy.multiplier) < np.inf, "multiplier is wrong")
        need(policy.policy.problem.n_stages == problem.n_stages, "another problem is priced anew")
    elif isinstance(policy, StopWhenSure):
        need(isinstance(policy.policy, Policy) and policy.policy.problem is problem, "it asks for nothing")
        need(0 <= float(policy.cost) < np.inf, "cost is wrong")
    elif isinstance(policy, RandomisedPolicy):
        need(all(isinstance(one, Policy) for one in policy.policies), "lots are drawn among no policies")
        check_distribution(policy.probabilities, len(policy.policies), "probabilities")
        need(all(one.problem.n_stages == problem.n_stages for one in policy.policies), "policies are of other problems")
    elif isinstance(policy, PlannedPolicy):
        need(problem.free and isinstance(policy.fallback, Policy), "a plan has nothing to fall back on")
        need(policy.fallback.problem is problem and type(policy.plan) is list, "a plan is of another problem")
        for keys, questions, costs in policy.plan:
            array(keys, "keys", "S", None)
            array(questions, "questions", "i", len(keys))
            array(costs, "costs", "f", len(keys))
    elif isinstance(policy, OrderBoundPolicy):
        need(
            isinstance(policy.bounds, RepeatValues) and policy.bounds.problem is problem,
            "bounds are of another problem",
        )


def check_repeats(values: RepeatValues) -> None:
    """Check bounds over all orders."""
    problem, grid = values.problem, values.grid
    need(isinstance(problem, AcquisitionProblem) and has_repeats(problem), "bounds are of another problem")
    need(isinstance(grid, (SimplexGrid, LogOddsLine)) and grid.points.shape[1] == problem.n_classes, "grid is wrong")
    tables = problem.class_tables
    assert tables is not None  # as has_repeats has seen
    need(np.array_equal(numbers(values.tables, "tables", *tables.shape), tables), "tables are of another problem")
    once = values.once
    need(type(once) is list and len(set(once)) == len(once) <= 30, "once is wrong")
    for question in once:
        whole(question, "once", 0, problem.n_questions - 1)
    numbers(values.values, "values", 2 ** len(once), len(grid.points))


def check_line(line: LogOddsLine) -> None:
    """Check points between two classes."""
    points = numbers(line.points, "points", None, 2)
    need(len(points) >= 2 and bool((np.diff(points[:, 1]) > 0).all()), "points do not rise")
    need(points[0, 1] == 0 and points[-1, 1] == 1 and np.allclose(points.sum(axis=1), 1), "points are no beliefs")


def check_model(model: ObservationModel) -> None:
    """Check a fitted observation model."""
    if not fitted(model):
        return
    n = whole(model.n_features_in_, "n_features_in_", 1)
    prior = numbers(model.class_prior_, "class_prior_", len(model.classes_))
    check_distribution(prior, None, "class_prior_")
    n_outcomes = array(model.n_outcomes_, "n_outcomes_", "iu", n)
    need(n_outcomes.min() >= 1, "n_outcomes_ holds less than 1")
    if isinstance(model, NaiveBayes):
        counts = numbers(model.counts_, "counts_", n, None, len(prior))
        need(counts.min(initial=0) >= 0 and n_outcomes.max() <= counts.shape[1], "counts_ are wrong")
        need(
            counts.max(initial=0) <= _MOST_COUNTED and 0 <= float(model.alpha) <= _MOST_COUNTED, "counts are too large"
        )
        numbers(model.class_count_, "class_count_", len(prior))
        need((_temperatures(model) >= 1).all(), "temperature_ is below 1")
    if isinstance(model, TreeNetwork):
        _check_network(model)
    if isinstance(model, HiddenStates):
        _check_components(model)
    if isinstance(model, ItemResponse):
        numbers(model.ability_, "ability_", len(model.weights_))
        need(isinstance(model.items_, ItemParameters) and len(model.items_) == n, "items_ are of other features")
    if isinstance(model, SkillProfile):
        array(model.profiles_, "profiles_", "i", len(model.weights_), None)
        array(model.guess_, "guess_", "f", n)
        array(model.slip_, "slip_", "f", n)
    if isinstance(model, DiscreteNetwork):
        _check_discrete(model)
    if isinstance(model, ClassMixture):
        need(array(model.n_components_, "n_components_", "i", len(prior)).min() >= 1, "n_components_ is wrong")
    if isinstance(model, ContextBayes):
        _check_contexts(model)


def _temperatures(model: NaiveBayes) -> FloatArray:
    """As an array: it is one number, or one a feature."""
    found = model.temperature_
    if not isinstance(found, (float, np.floating)):
        found = array(found, "temperature_", "f", model.n_features_in_)
    return np.asarray(found, dtype=np.float64)


def _check_discrete(model: DiscreteNetwork) -> None:
    """Check a network by preparing it anew, which computes nothing of the answers."""
    need(isinstance(model.network, NetworkTables) and model.network_ is model.network, "network_ is none")
    again = DiscreteNetwork(model.network, model.target, model.questions, model.max_cells).fit()
    for name in ("outcomes_", "questions_", "targets_", "_states"):
        need(getattr(model, name) == getattr(again, name), f"{name} is not that of the network")
    for name in ("classes_", "n_outcomes_"):
        found, wanted = getattr(model, name), getattr(again, name)
        need(isinstance(found, np.ndarray) and np.array_equal(found, wanted), f"{name} is not that of the network")
    prior = array(model.class_prior_, "class_prior_", "f", len(again.classes_))
    need(np.allclose(prior, again.class_prior_, rtol=0, atol=1e-12), "class_prior_ is not that of the network")


def check_network_tables(network: NetworkTables) -> None:
    """Check a network by making it anew."""
    again = NetworkTables(network.names, network.states, network.parents, network.tables)
    need(all(array(a, "a table", "f", *b.shape) is not None for a, b in zip(network.tables, again.tables)), "tables")


def _check_components(model: HiddenStates) -> None:
    n_classes, most = len(model.classes_), int(model.n_outcomes_.max())
    classes = array(model.hidden_class_, "hidden_class_", "i", None)
    need(np.array_equal(np.unique(classes), np.arange(n_classes)), "hidden_class_ has other classes")
    weights = numbers(model.weights_, "weights_", len(classes))
    need(weights.min() >= 0 and np.allclose(np.bincount(classes, weights), 1), "weights_ are wrong")
    tables = numbers(model.tables_, "tables_", model.n_features_in_, None, len(classes))
    real = (np.arange(tables.shape[1]) < model.n_outcomes_[:, None])[:, :, None]
    need(tables.shape[1] >= most and tables.min() >= 0 and np.allclose(tables.sum(axis=1), 1), "tables_ are wrong")
    need(not tables[np.broadcast_to(~real, tables.shape)].any(), "tables_ have other outcomes")


def _check_contexts(model: ContextBayes) -> None:
    columns = array(model.context_, "context_", "i", None)
    need(bool(((columns >= 0) & (columns < model.n_features_in_)).all()), "context_ is wrong")
    values = array(model.context_values_, "context_values_", "i", None, len(columns))
    n_states = len(model.classes_) * len(values)
    need(not len(columns) or n_states == len(model.hidden_class_), "context_values_ are wrong")
    need(type(model.densities_) is list and len(model.densities_) == model.n_features_in_, "densities_ are wrong")


def _check_network(model: TreeNetwork) -> None:
    parents, cpds = model.parents_, model.cpds_
    for feature, some in enumerate(parents):
        array(some, f"parents of feature {feature}", "iu", None)
    if all(cpd is not None for cpd in cpds):
        again, tables = check_cpds(parents, cpds, len(model.classes_))
        need(all(np.array_equal(a, b) for a, b in zip(parents, again)), "parents_ are not sorted")
        need(all(array(c, "a cpd", "f", *t.shape) is not None for c, t in zip(cpds, tables)), "cpds_ are wrong")
        need([len(cpd) for cpd in cpds] == model.n_outcomes_.tolist(), "cpds_ have other outcomes")
    need(model.is_forest_ is all(len(some) < 2 for some in parents), "is_forest_ is wrong")
    n_edges = sum(len(some) for some in parents)
    need(np.shape(model.edge_weights_) == (n_edges,), "edge_weights_ are of other edges")
    need(model.conditioning_ in ("full", "ancestor"), "conditioning_ is wrong")
    need(float(model.unit_) > 0, "unit_ is wrong")
    check_state_names(model.state_names_, model.n_outcomes_)
    check_feature_names(model.feature_names_, model.n_features_in_)


for _kind, _check in (
    (AcquisitionProblem, check_problem),
    (Bundle, check_bundle),
    (DrawnBundle, check_drawn),
    (ObservationModel, check_model),
    (NetworkTables, check_network_tables),
    (Discretizer, check_discretizer),
    (FrameEncoder, check_encoder),
    (OutcomeCoder, check_coder),
    (HeldOut, check_held_out),
    (Prices, check_prices),
    (SimplexGrid, check_grid),
    (LogOddsLine, check_line),
    (RepeatValues, check_repeats),
    (InformationFilter, check_support),
    (Selector, check_support),
    (AlphaSet, check_set),
    (ValueFunction, check_values),
    (Policy, check_policy),
    (Policy, rehearse),
    (RuleValues, check_rule_values),
    (SeenRows, check_seen),
    (Calibration, check_calibration),
    (DecidingClassifier, check_classifier),
    (Decider, check_decider),
    (CertifiedError, check_contract),
):
    check_when_read(_kind, _check)
