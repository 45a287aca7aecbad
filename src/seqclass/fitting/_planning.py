"""What a classifier does once its model stands: order, solve, and solve again; also for a network without data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.frames import FrameEncoder, spelt
from seqclass._utils.text import listed, shown
from seqclass._utils.validation import check_distribution, check_integer
from seqclass.bn import DiscreteNetwork, ObservationModel
from seqclass.costs import Prices, resolve_decisions, resolve_prices
from seqclass.deciding._coding import OutcomeCoder
from seqclass.deciding._problem import acquisition_problem, is_free, stage_order
from seqclass.deciding.calibration import Calibration
from seqclass.fitting._calibration import Asked, by_column, calibrate
from seqclass.fitting._steps import timed, twin
from seqclass.pomdp import (
    EC2,
    AcquisitionProblem,
    Adaptive,
    ClassInformation,
    ExpectedSaving,
    GivenOrder,
    Policy,
    Solver,
    evaluate,
    solve_for_budget,
    within_budget,
)
from seqclass.pomdp.solvers.base import certified, uncertified
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.solvers.ordering.observed import ON_ROWS, along_order, judged
from seqclass.pomdp.solvers.ordering.rules import most_telling
from seqclass.pomdp.solvers.ordering.values import RulePolicy

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


#: Cases of a network that values are fitted to: each answer takes two passes of messages.
_PATHS = 500
#: Cases of a network that an order is found on, where it needs data.
_CASES = 5000


def network_solver(random_state: Any = 0, max_seconds: float = 60.0) -> Adaptive:
    """Return the solver for networks where any question may come next: the rules that look at each question once."""
    rules = [EC2(), ClassInformation(), ExpectedSaving()]
    return Adaptive(rules, n_paths=_PATHS, first_horizon=8, max_seconds=max_seconds, random_state=random_state)


Planned = TypeVar("Planned", bound="Planning")


class Planning:
    """Finds the policy of a `SequentialClassifier` whose model is fitted."""

    order: Any
    solver: Any
    feature_costs: Any
    decision_costs: Any
    decisions: Sequence[Any] | None
    groups: Any
    discounted_costs: Any
    bundles: Any
    target_cost: float | None
    max_features: int | None
    max_cost: float | None
    max_open: int | None
    random_state: Any
    calibrate: bool
    calibration_: Calibration
    classes_: npt.NDArray[Any]
    model_: ObservationModel
    problem_: AcquisitionProblem
    policy_: Policy
    support_: IntArray
    timings_: dict[str, float]
    n_features_in_: int
    decision_costs_: FloatArray
    _prices: Prices
    _certify: bool
    #: Calibration that folds of the same rows have found already.
    _found: tuple[Calibration, Asked] | None = None
    _asked: Any

    @classmethod
    def from_network(
        cls: type[Planned],
        network: Any,
        target: str | Sequence[str],
        *,
        questions: Sequence[str] | None = None,
        feature_costs: Any = 0.01,
        decision_costs: Any = None,
        order: Any = "adaptive",
        **settings: Any,
    ) -> Planned:
        """Plan for a Bayesian network that is given: no data are needed, and nothing is learnt.

        Parameters
        ----------
        network : pgmpy DiscreteBayesianNetwork, `seqclass.bn.NetworkTables` or path
            The network, or a file of one: BIF, XMLBIF, XDSL or UAI by its ending; see
            `seqclass.bn.DiscreteNetwork.from_file`.
        target : str or sequence of str
            Node to find out, which may have parents. Of several, such as faults, the class is their joint state.
        questions : sequence of str, optional
            Nodes that may be asked for; the others stay hidden. By default all but the targets and latent ones.
        feature_costs : float, array-like of shape (n_questions,) or dict
            Price of each question in units of misclassification cost: one for all, one each, or by node.
        decision_costs : array-like of shape (n_classes, n_decisions) or None
            Cost of each decision (column) when each class (row, in the order of ``classes_``) is true.
        order : str or array-like
            See `SequentialClassifier`; what an order needs data for is found on cases drawn from the network.
        **settings
            Further settings of `SequentialClassifier`, such as ``groups``, ``max_cost``, ``decisions`` or ``solver``.
            The solver is by default `seqclass.pomdp.Adaptive` with three rules and few cases, as inference takes time.

        Returns
        -------
        SequentialClassifier
            Ready to be asked: its columns are the questions, with the states of their nodes as categories.

        Raises
        ------
        ValueError
            If a node is unknown, prices or costs are wrong, the targets have too many joint states, or the network is
            too densely connected for exact inference.

        Examples
        --------
        >>> from seqclass import SequentialClassifier
        >>> from seqclass.bn import NetworkTables
        >>> tables = [np.array([0.7, 0.3]), np.array([[0.8, 0.3], [0.2, 0.7]]), np.array([[0.9, 0.2], [0.1, 0.8]])]
        >>> states = [["no", "yes"], ["low", "high"], ["neg", "pos"]]
        >>> flu = NetworkTables(["flu", "fever", "swab"], states, [[], [0], [0]], tables)
        >>> clf = SequentialClassifier.from_network(flu, "flu", feature_costs={"fever": 0.01, "swab": 0.05})
        >>> session = clf.session()
        >>> session.next_feature.name, session.observe("fever", "low"), str(session.decision)
        ('fever', None, 'no')
        """
        found = DiscreteNetwork(network, target, questions).fit()
        # what can be written to a file: the network as tables, and what may be asked by name
        model = DiscreteNetwork(found.network_, found.target, found.questions_).fit()
        settings |= {"feature_costs": feature_costs, "decision_costs": decision_costs, "order": order, "prefit": True}
        if is_free(order) and settings.get("solver") is None:
            settings["solver"] = network_solver(settings.get("random_state", 0))
        make: Any = cls
        clf = make(model, **settings)
        clf._adopt(model)
        return clf  # type: ignore[no-any-return]

    def _adopt(self: Any, model: DiscreteNetwork) -> None:
        """Take over a network: columns, categories, prices; and plan."""
        self.timings_ = dict.fromkeys(("discretize", "filter", "structure", "parameters"), 0.0)
        names = model.questions_
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        self.encoder_ = FrameEncoder()
        self.encoder_.columns_ = list(names)
        self.encoder_.categories_ = {name: _states(name, states) for name, states in zip(names, model.outcomes_)}
        self.coder_ = OutcomeCoder(None, dict(enumerate(model.n_outcomes_.tolist())))
        self.coder_.fit_transform(np.zeros((1, len(names))), None)
        self.model_, self.classes_ = model, model.classes_
        self.target_name_ = model.target if isinstance(model.target, str) else None
        self.selector_, self.support_ = None, np.arange(len(names))
        self._prices = resolve_prices(
            self.feature_costs, len(names), names, self.groups, self.discounted_costs, self.bundles
        )
        self.decision_costs_, self.decisions_ = resolve_decisions(self.decision_costs, self.classes_, self.decisions)
        needs = isinstance(self.order, str) and not is_free(self.order)
        self._plan(*(model.sample(_CASES, self.random_state) if needs else (None, None)))

    def _plan(self, codes: Any, y: Any, rows: Any = None) -> None:
        """Order, make the problem, calibrate on rows of the data if wanted, and solve."""
        names = getattr(self, "feature_names_in_", None)
        with timed(self.timings_, "order"):
            free = is_free(self.order)
            rule = "given" if free else self.order
            most = None if self.max_features is None else check_integer(self.max_features, "max_features", 0)
            most = most if self._prices.bundles is None else None  # of which each shows several
            order = stage_order(rule, self.model_, self.support_, self._prices, codes, y, names, most)
        self.problem_ = self._staged(order, free)
        if self.calibrate:
            with timed(self.timings_, "calibrate"):
                self.calibration_, asked = self._found or calibrate(self, *rows)  # type: ignore[arg-type]
                exponents = by_column(self, self.calibration_.exponents, asked)  # type: ignore[arg-type]
                self.model_ = self.model_.tempered(exponents[self.support_])
                self.problem_ = self._staged(order, free)
        with timed(self.timings_, "solve", without="certify"):
            self._solve()
            if y is not None:
                judge(self, codes, y)  # type: ignore[arg-type]

    def _replan(self, X: Any, y: npt.ArrayLike) -> None:
        """Order, calibrate and solve once more, by the rows that the model was fitted to."""
        encoded = self._encoded(X, np.arange(self.support_.size))  # type: ignore[attr-defined]
        self._plan(encoded.codes[:, encoded.columns], y)

    def _staged(self, order: IntArray, free: bool) -> AcquisitionProblem:
        prices = self._prices.take(self.support_)
        costs, bundles = self.decision_costs_, prices.bundles
        problem = acquisition_problem(self.model_, order, prices, costs, free=free, bundles=bundles)
        problem = within_budget(problem, max_features=self.max_features, max_cost=self.max_cost)
        most = None if self.max_open is None else check_integer(self.max_open, "max_open", 1)
        return most_telling(problem, most) if free and most is not None else problem

    @property
    def expected_cost_(self) -> float:
        """What the model itself expects a case to cost: the upper end of the certificate, or else by simulation."""
        check_is_fitted(self, "policy_")
        upper = self.policy_.info.upper
        return evaluate(self.problem_, self.policy_).cost if np.isnan(upper) else float(upper)

    def with_prior(self, prior: npt.ArrayLike) -> Any:
        """Return the same classifier, solved again for another class prior.

        Parameters
        ----------
        prior : array-like of shape (n_classes,)
            P(class) where the classifier will be used, in the order of ``classes_``.

        Returns
        -------
        SequentialClassifier
            A new one; the model's likelihoods are shared.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> rare = SequentialClassifier().fit(X, y).with_prior([0.01, 0.99])
        >>> rare.problem_.prior.tolist()
        [0.01, 0.99]
        """
        check_is_fitted(self, "policy_")
        prior = check_distribution(prior, len(self.classes_), "prior")
        other = twin(self)
        other.problem_ = self.problem_.replace(prior=prior)
        with timed(other.timings_, "solve", without="certify"):
            other._solve()
            keep_order(other, self)  # type: ignore[arg-type]
        return other

    def _to_refit(self) -> Any:
        """What is fitted anew where rows are left out."""
        return self

    def _solve(self) -> None:
        solver = self._solver()
        if self.target_cost is None:
            self.policy_ = solver.solve(self.problem_)
        else:
            self.policy_ = solve_for_budget(self.problem_, self.target_cost, solver, random_state=self.random_state)
        self.timings_["certify"] = self.policy_.info.certify_seconds
        self.order_ = self.support_[self._asked()]
        self.ordering_ = self.policy_.info.ordering

    def _solver(self) -> Solver:
        solver = default_solver(self.problem_, self.random_state) if self.solver is None else self.solver
        return solver if self._certify else uncertified(solver)


def _states(name: str, states: Sequence[Any]) -> npt.NDArray[Any]:
    """States of a node as categories."""
    found = [spelt(state) for state in states]
    if len({*found, ""}) <= len(found):
        raise ValueError(
            f"node {shown(name)}: its states {listed(states)} must differ by more than blanks at the edges."
        )
    return np.array(found)
