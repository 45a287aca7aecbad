"""What must hold of a model that was read from a file, beyond what its digest tells: files of version 0.1 have none."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from seqclass._coding import OutcomeCoder
from seqclass._contract import CertifiedError, GroupRisk, Rung
from seqclass._frames import FrameEncoder, spelt
from seqclass._inputs import category_counts
from seqclass._loading_basics import array, fitted, need, numbers, whole
from seqclass._seen_rows import SeenRows
from seqclass._validation import check_costs
from seqclass.calibrated import Calibration
from seqclass.classifier import SequentialClassifier
from seqclass.costs import Prices
from seqclass.discretize import Discretizer
from seqclass.held_out import HeldOut
from seqclass.pomdp import DECIDE, LookaheadPolicy, Policy, PomdpPyPolicy
from seqclass.pomdp.along import first_open
from seqclass.session import expected_saving

#: Rows and stages of the rehearsal of a policy.
_ROWS = 8
_STAGES = 200
#: Most look-ahead of a file that comes without a digest, in outcomes that follow one another.
_MOST_AHEAD = 10**7


def check_classifier(clf: SequentialClassifier) -> None:
    """Check what a fitted classifier is put together of; raises where something does not fit."""
    if not fitted(clf):
        return
    n = whole(clf.n_features_in_, "n_features_in_", 1)
    if hasattr(clf, "feature_names_in_"):
        names = array(clf.feature_names_in_, "feature_names_in_", "OU", n).tolist()
        need(
            all(isinstance(name, str) for name in names) and len(set(names)) == n,
            "feature_names_in_ is no list of names",
        )
    classes = check_classes(clf.classes_)
    _check_decisions(clf, classes)
    support = array(clf.support_, "support_", "iu", None)
    need(len(support) > 0 and support[0] >= 0 and (np.diff(support) > 0).all() and support[-1] < n, "support_ is wrong")
    need(isinstance(clf.coder_, OutcomeCoder) and len(clf.coder_.n_outcomes_) == n, "coder_ is of other features")
    need(isinstance(clf._prices, Prices) and len(clf._prices.full) == n, "_prices are of other features")
    need(type(clf.charge_missing) is bool, "charge_missing is neither true nor false")
    need(clf.handle_unknown in ("error", "missing"), "handle_unknown is wrong")
    need(isinstance(clf.timings_, dict), "timings_ is no table")
    _check_encoder(clf, n)
    _check_model(clf, classes)
    problem, policy = clf.problem_, clf.policy_
    need(isinstance(policy, Policy) and policy.problem is problem, "policy_ is of another problem")
    wanted = support[clf._asked()]
    need(np.array_equal(array(clf.order_, "order_", "iu", None), wanted), "order_ is not that of policy_")
    seen = vars(clf).get("_seen")
    need(seen is None or isinstance(seen, SeenRows), "_seen is of another kind")
    held = vars(clf).get("held_out_")
    need(held is None or isinstance(held, HeldOut), "held_out_ is of another kind")
    calibration = vars(clf).get("calibration_")
    need(calibration is None or isinstance(calibration, Calibration), "calibration_ is of another kind")
    need(isinstance(vars(clf).get("target_name_", ""), (str, type(None))), "target_name_ is no name")


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
    need(isinstance(contract.classifier, SequentialClassifier) is contract.certified, "it has another classifier")


def check_held_out(held: HeldOut) -> None:
    """Check the rows of a held-out cost, and that its yardsticks are of the same folds."""
    fold = array(held.fold, "fold", "i", None)
    n = int((fold >= 0).sum())
    need(n > 0 and fold.min() >= -1 and len(np.unique(fold[fold >= 0])) == fold.max() + 1 > 1, "its folds are wrong")
    for name in ("prices", "decision_costs"):
        need(numbers(getattr(held, name), name, n).min() >= 0, f"{name} are wrong")
    array(held.errors, "errors", "b", n)
    for name in ("decisions", "counts"):
        need(array(getattr(held, name), name, "i", n).min() >= 0, f"{name} are wrong")
    need(type(held.name) is str and all(type(remedy) is str for remedy in held.remedies), "its texts are none")
    need(type(held.dearest) is float and held.dearest >= held.decision_costs.max(), "dearest is wrong")
    need(type(held.expected_cost) is float, "expected_cost is no number")
    for other in (held.deciding_at_once, held.linear):
        same = isinstance(other, HeldOut) and np.array_equal(other.fold, fold)
        need(other is None or same, "a yardstick is of other folds")


def _check_decisions(clf: SequentialClassifier, classes: Any) -> None:
    decisions = array(clf.decisions_, "decisions_", "OUSbiufc", None)
    different = len(set(decisions.tolist())) == len(decisions)
    need(different and decisions[: len(classes)].tolist() == classes.tolist(), "decisions_ do not begin with classes_")
    costs = array(clf.decision_costs_, "decision_costs_", "f", len(classes), len(decisions))
    need(np.array_equal(costs, clf.problem_.decision_costs), "decision_costs_ are not those of problem_")


def _check_encoder(clf: SequentialClassifier, n: int) -> None:
    encoder = clf.encoder_
    need(encoder is None or (isinstance(encoder, FrameEncoder) and len(encoder.columns_) == n), "encoder_ is wrong")
    need(category_counts(encoder) == clf.coder_.categories, "coder_ has other categories than encoder_")
    if encoder is not None and hasattr(clf, "feature_names_in_"):
        need([str(c) for c in encoder.columns_] == clf.feature_names_in_.tolist(), "encoder_ has other columns")


def _check_model(clf: SequentialClassifier, classes: Any) -> None:
    model, problem, support = clf.model_, clf.problem_, clf.support_
    need(np.array_equal(model.classes_, classes), "model_ has other classes")
    need(model.n_features_in_ == len(support), "model_ has other features")
    need(np.array_equal(model.n_outcomes_, clf.coder_.n_outcomes_[support]), "model_ has other outcomes than coder_")
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
    need(n_outcomes.min(initial=1) >= 1, "n_outcomes_ holds less than 1")
    need(type(coder.categories) is dict, "categories is no table")
    known = np.array([whole(j, "a categorical column", 0, n - 1) for j in coder.categories], dtype=np.intp)
    need(
        all(n_outcomes[j] == max(1, whole(k, "a number of categories", 0)) for j, k in coder.categories.items()),
        "categories",
    )
    numeric = np.setdiff1d(np.arange(n), known)
    need(np.array_equal(array(coder.numeric_, "numeric_", "iu", None), numeric), "numeric_ is wrong")
    array(coder.example_, "example_", "biuf", 1, n)
    inner = coder.discretizer_
    need(inner is None or hasattr(inner, "transform"), "discretizer_ is none")
    if isinstance(inner, Discretizer):
        need(np.array_equal(inner.n_outcomes_, n_outcomes[numeric]), "discretizer_ has other outcomes")
    if coder.range_ is not None:
        array(coder.range_, "range_", "f", 2, n)


def check_discretizer(discretizer: Discretizer) -> None:
    """Check the bins of a discretiser."""
    if not fitted(discretizer):
        return
    n = whole(discretizer.n_features_in_, "n_features_in_", 1)
    edges = array(discretizer.bin_edges_, "bin_edges_", "f", n, None)
    state = discretizer.__dict__
    if "zero_bin_" in state:  # by which models of 0.1 say of which features zeros have a bin of their own
        apart = array(state.pop("zero_bin_"), "zero_bin_", "b", n)
        discretizer.own_bins_ = np.where(apart[:, None], np.zeros(2), np.nan)
    low, high = array(discretizer.own_bins_, "own_bins_", "f", n, 2).T
    own = ~np.isnan(low)
    need(bool((own == ~np.isnan(high)).all() and (low <= high)[own].all()), "own_bins_ have no ends")
    n_outcomes = array(discretizer.n_outcomes_, "n_outcomes_", "iu", n)
    if hasattr(discretizer, "few_values_"):  # which models of 0.1 do not have
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


def check_prices(prices: Prices) -> None:
    """Check prices of features."""
    full = check_costs(array(prices.full, "full", "f", None), "full")
    discounted = check_costs(array(prices.discounted, "discounted", "f", len(full)), "discounted")
    need(bool((discounted <= full).all()), "discounted prices are above full ones")
    if prices.groups is not None:
        groups = array(prices.groups, "groups", "iu", len(full))
        need(groups.min(initial=-1) >= -1 and groups.max(initial=-1) <= 10**7, "groups are wrong")
    if prices.bundles is not None:
        bundles = array(prices.bundles, "bundles", "iu", len(full))
        known = bundles.min(initial=-1) >= -1 and bundles.max(initial=-1) < len(prices.bundle_names)
        need(bool(known), "bundles are wrong")


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
