"""Checks of the problem, the policy and the record of a fit, read from a file, and a rehearsal of the policy.

What must hold of any other part stands beside its class, in ``_check_stored``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from seqclass._utils.frames import FrameEncoder
from seqclass._utils.model_files import check_when_read
from seqclass._utils.prices_after import PriceAfter
from seqclass._utils.stored import (
    check_array,
    check_whole,
    require,
    require_array,
    require_numbers,
    require_part,
    require_whole,
)
from seqclass._utils.validation import check_costs, check_distribution
from seqclass.agent._coding import OutcomeCoder, category_counts
from seqclass.agent._row_fingerprints import RowFingerprints
from seqclass.agent.agent import Agent, Classifier
from seqclass.agent.calibration import Calibration
from seqclass.agent.session import expected_saving
from seqclass.costs import Prices, check_stored_groups
from seqclass.pomdp import DECIDE, AcquisitionProblem, Policy, SolveInfo
from seqclass.pomdp.answer_rules import AnswerRules
from seqclass.pomdp.bounds.certificate import SCOPES
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.constraints import Limits
from seqclass.pomdp.policy import draw_lots
from seqclass.pomdp.rules import QuestionRules
from seqclass.pomdp.starts import Starts
from seqclass.pomdp.walk import first_open

#: Rows and stages of the rehearsal of a policy.
_ROWS = 8
_STAGES = 200
#: Most look-ahead, in outcomes that follow one another.
_MOST_AHEAD = 10**7


def check_agent(agent: Agent) -> None:
    """Check what a record is put together of; raises where something does not fit."""
    require_part(agent, "columns", Classifier)
    n = check_whole(agent.n_features, "n_features_in_", 1)
    if agent.feature_names is not None:
        names = check_array(agent.feature_names, "feature_names_in_", "OU", n).tolist()
        different = all(isinstance(name, str) for name in names) and len(set(names)) == n
        require(different, "feature_names_in_ is no list of names")
    classes = check_classes(agent.classes)
    _check_decisions(agent, classes)
    support = require_array(agent, "support", "iu", None, low=0, high=n - 1)
    require(len(support) > 0 and (np.diff(support) > 0).all(), "support is wrong")
    require(len(require_part(agent, "coder", OutcomeCoder).n_outcomes_) == n, "coder is of other features")
    require(len(require_part(agent, "prices", Prices).full) == n, "prices are of other features")
    require(type(agent.charge_missing) is bool, "charge_missing is neither true nor false")
    require(type(agent.unit) is str, "unit is no text")
    known = require_array(agent, "known", "iu", None, low=0, high=len(support) - 1)
    require((np.diff(known) > 0).all(), "known is wrong")
    if agent.differential is not None:
        check_array(agent.differential.limits, "differential", "f", len(classes))
    begins = agent.problem._starts
    require(len(known) == 0 if begins is None else np.array_equal(begins.features, known), "starts know something else")
    require(agent.handle_unknown in ("error", "missing"), "handle_unknown is wrong")
    _check_encoder(agent, n)
    _check_model(agent, classes)
    require(require_part(agent, "policy", Policy).problem is agent.problem, "policy is of another problem")
    for name, kind in (("seen", RowFingerprints), ("calibration", Calibration), ("target_name", str)):
        require(isinstance(getattr(agent, name), (kind, type(None))), f"{name} is of another kind")


def _check_decisions(agent: Agent, classes: Any) -> None:
    decisions = check_array(agent.decisions, "decisions_", "OUSbiufc", None)
    different = len(set(decisions.tolist())) == len(decisions)
    first = decisions[: len(classes)].tolist() == classes.tolist()
    require(different and first, "decisions_ do not begin with classes_")
    check_array(agent.problem.decision_costs, "decision_costs_", "f", len(classes), len(decisions))


def _check_encoder(agent: Agent, n: int) -> None:
    encoder = None if agent.encoder is None else require_part(agent, "encoder", FrameEncoder)
    require(encoder is None or len(encoder.columns_) == n, "encoder_ is wrong")
    require(category_counts(encoder) == agent.coder.categories, "coder_ has other categories than encoder_")
    if encoder is not None and agent.feature_names is not None:
        require([str(c) for c in encoder.columns_] == agent.feature_names.tolist(), "encoder_ has other columns")


def _check_model(agent: Agent, classes: Any) -> None:
    model, problem, support = agent.model, agent.problem, agent.support
    require(np.array_equal(model.classes_, classes), "model_ has other classes")
    require(model.n_features_in_ == len(support), "model_ has other features")
    same = np.array_equal(model.n_outcomes_, agent.coder.n_outcomes_[support])
    require(same, "model_ has other outcomes than coder_")
    require(problem.n_classes == len(classes), "problem_ has other classes")
    require(problem.features.max(initial=-1) < len(support), "problem_ has other features")
    if problem.limits.rules is not None and (answers := problem.limits.rules.answers) is not None:
        require(answers.features.max(initial=-1) < len(support), "skip logic is of other features")
    single = np.array(
        [problem.structure.bundle(question) is None for question in range(problem.n_questions)], dtype=bool
    )
    shown = problem.features[single]
    require(np.array_equal(problem.n_outcomes[single], model.n_outcomes_[shown]), "problem_ has other outcomes")


def check_classes(classes: Any) -> Any:
    """Check labels of classes."""
    labels = check_array(classes, "classes_", "OUSbiufc", None)
    values = labels.tolist()
    require(len(labels) > 0 and all(a < b for a, b in pairwise(values)), "classes_ are not sorted")
    return labels


def check_problem(problem: AcquisitionProblem) -> None:
    """Check an acquisition problem."""
    prior = check_distribution(require_numbers(problem, "prior", None), None, "prior")
    prices = check_costs(require_numbers(problem, "prices", None), "prices")
    n = len(prices)
    costs = check_costs(require_numbers(problem, "decision_costs", len(prior), None), "decision_costs")
    full = check_costs(require_numbers(problem, "full_prices", n), "full_prices")
    require((full >= prices).all(), "prices are wrong")
    require(costs.shape[1] > 0, "decision_costs are wrong")
    require_array(problem, "n_outcomes", "i", n, low=1)
    features = require_array(problem, "features", "i", n, low=0)
    require(len(np.unique(features)) == n, "features are wrong")
    check_stored_groups(problem, n)
    require(type(problem.any_order) is bool, "any_order is neither true nor false")
    if problem._starts is not None:
        starts = require_part(problem, "_starts", Starts)
        require(starts.belief.shape[1] == len(prior), "beliefs at the start are of other classes")
        require(not np.isin(starts.features, features).any(), "what is known is asked for")
    limits = require_part(problem, "limits", Limits)
    require(limits.max_questions is None or problem.any_order, "max_questions is wrong")
    for name in ("max_questions", "max_cost"):
        limit = getattr(limits, name)
        require(limit is None or 0 <= limit < np.inf, f"{name} is wrong")
    if limits.rules is not None:
        require(problem.any_order, "rules are of another kind")
        _check_rules(require_part(limits, "rules", QuestionRules), n)
    if problem.bundles is not None:
        known = all(bundle is None or isinstance(bundle, Bundle) for bundle in problem.bundles)
        require(known and len(problem.bundles) == n, "bundles are of other questions")


def _check_rules(rules: QuestionRules, n: int) -> None:
    if rules.answers is not None:
        require_part(rules, "answers", AnswerRules)
    require(all(isinstance(one, PriceAfter) and 0 <= one.price <= 1 for one in rules.prices), "levels are wrong")
    n_areas = len(require_array(rules, "at_least", "i", None))
    require_array(rules, "area", "i", n, low=-1, high=n_areas - 1)
    require_array(rules, "at_most", "i", n_areas)
    require_array(rules, "enemies", "b", None, n)
    for name in ("first", "mandatory"):
        require_array(rules, name, "i", None, low=0, high=n - 1)
    for names, size in ((rules.areas, n_areas), (rules.questions, n)):
        require(type(names) is tuple and len(names) == size and all(type(x) is str for x in names), "names are wrong")


def check_policy(policy: Policy) -> None:
    """Check a policy."""
    require_whole(policy, "n_stages", 0, require_part(policy, "problem", AcquisitionProblem).n_stages)
    require(require_part(policy, "info", SolveInfo).scope in SCOPES, "info is none of a solver")


def rehearse(policy: Policy) -> None:
    """Have a policy act along its stages, where anything that does not fit together fails."""
    if policy._plans_anew:
        return
    problem, rng = policy.problem, np.random.default_rng(0)
    depth = getattr(policy, "depth", 1)
    widest = float(problem.n_outcomes.max(initial=1))
    ahead = widest ** (check_whole(depth, "depth", 1, 1000) - 1)  # the last question's outcomes are not followed
    require(ahead <= _MOST_AHEAD or policy.n_stages < depth, "depth is too large")
    belief, probability = policy.initial_belief()
    [lot] = draw_lots(policy, np.zeros((1, 1)))
    require(len(belief) == len(probability) and 0 <= lot < len(belief), "its lots are wrong")
    belief = belief[np.arange(_ROWS) % len(belief)]
    for _ in range(min(policy.n_stages, _STAGES)):
        asked = policy.action(belief)
        require(asked.shape == (len(belief),) and asked.dtype.kind == "i", "a policy answers with no numbers")
        on = np.flatnonzero(asked != DECIDE)
        require(bool((asked[on] >= 0).all() and (asked[on] < problem.n_questions).all()), "a policy asks for nothing")
        require(bool(belief.available[on, asked[on]].all()), "a policy asks another question")
        question = int(first_open(belief)[0] if asked[0] == DECIDE else asked[0])
        if question == DECIDE:
            break
        belief = belief[np.flatnonzero(belief.available[:, question])].asking(question)
        if policy._lookahead_values is not None:
            require(not np.isnan(expected_saving(policy, belief)).any(), "a policy expects no number")
        require(
            bool((np.abs(belief.outcome_probabilities.sum(axis=1) - 1) < 1e-6).all()), "outcomes are not sure to come"
        )
        place = (belief.outcome_probabilities.cumsum(axis=1) < rng.random((len(belief), 1)) * (1 - 1e-6)).sum(axis=1)
        following = (
            problem.structure.sample_outcomes(question, belief, np.arange(len(belief)), rng)
            if problem.structure.is_sampled(question)
            else place
        )
        following[0] = -1
        belief = belief.update(following)
    decision = policy.problem.decide(belief.probabilities)
    require(decision.shape == (len(belief),) and bool((decision < problem.n_decisions).all()), "it decides for nothing")


for _kind, _check in ((AcquisitionProblem, check_problem), (Policy, check_policy), (Agent, check_agent)):
    check_when_read(_kind, _check)
check_when_read(Policy, rehearse, last=True)
