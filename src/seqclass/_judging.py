"""A fixed order that was made on the training rows, beside the adaptive order that the model prefers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import IntArray
from seqclass._staging import stage_order
from seqclass.pomdp import AcquisitionProblem, Adaptive, GivenOrder
from seqclass.pomdp.solvers.base import certified
from seqclass.pomdp.solvers.ordering.observed import ON_ROWS, along_order, judged
from seqclass.pomdp.solvers.ordering.policy import RulePolicy

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier


def judge(clf: SequentialClassifier, codes: Any, y: npt.NDArray[Any]) -> None:
    """Take the fixed order where it costs less on the training rows, whose outcomes and labels are given."""
    solver = _chooser(clf)
    if solver is None:
        return
    names = getattr(clf, "feature_names_in_", None)
    order = stage_order("conditional", clf.model_, clf.support_, clf._prices, codes, y, names)
    costs = clf.decision_costs_[np.searchsorted(clf.classes_, y)]
    questions = _questions(clf.problem_, order)
    _take(clf, judged(clf.policy_, questions, codes, costs, solver, charge_missing=clf.charge_missing))


def keep_order(clf: SequentialClassifier, before: SequentialClassifier) -> None:
    """Stop along the order that the training rows preferred, now that the problem is another one."""
    solver, policy = _chooser(clf), before.policy_
    if solver is None or before.ordering_ is None or before.ordering_.chosen != ON_ROWS:
        return
    assert isinstance(policy, RulePolicy)  # of that name there is no other
    assert isinstance(policy.values.rule, GivenOrder)
    fixed = along_order(clf.problem_, np.asarray(policy.values.rule.order, dtype=np.intp), solver)
    chosen = certified(fixed, solver.certificate_paths, solver.random_state)
    _take(clf, chosen.with_info(ordering=before.ordering_))


def _chooser(clf: SequentialClassifier) -> Adaptive | None:
    """The solver that chooses what to ask, unless the user has named rules or a budget."""
    solver = clf._solver() if clf.problem_.free and clf.target_cost is None else None
    return solver if isinstance(solver, Adaptive) and solver.rules is None else None


def _questions(problem: AcquisitionProblem, order: IntArray) -> IntArray:
    """Questions of a problem that show the features of an order, each where the first of them stands."""
    place = np.full(int(order.max(initial=-1)) + 1, order.size)
    place[order] = np.arange(order.size)
    first = np.array([place[problem.members(question)].min() for question in range(problem.n_questions)])
    return np.asarray(np.argsort(first, kind="stable"), dtype=np.intp)


def _take(clf: SequentialClassifier, policy: Any) -> None:
    clf.policy_, clf.ordering_ = policy, policy.info.ordering
    clf.timings_["certify"] = policy.info.certify_seconds
