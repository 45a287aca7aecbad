"""Models to export, and what a session says of random cases of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from headless import browser as browser
from live_cases import DOUBT_COSTS, doubtful
from network_cases import random_network
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from seqclass import Costs, Rules, SequentialClassifier, SkipLogic, SkipRule, certify_differential, ifc2f, load
from seqclass.bn import ClassMixture, ContextBayes, DiscreteNetwork, NaiveBayes, TreeNetwork
from seqclass.cli import main
from seqclass.discretize import Discretizer
from seqclass.exams import ItemResponse, SkillProfile
from seqclass.pomdp import (
    EC2,
    Adaptive,
    ClassInformation,
    CrossEntropy,
    ExactFreeOrder,
    ExpectedSaving,
    FirstK,
    FittedValueIteration,
    FixedPanels,
    GridValueIteration,
    HiddenInformation,
    Lookahead,
    LookaheadSaving,
    Panels,
    Perseus,
    PosteriorThreshold,
    ProjectedValueIteration,
    Solver,
)
from seqclass.pomdp.bounds.repeats import RepeatValues
from seqclass.pomdp.solvers.ordering.adaptive import ImprovedRule
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.pomdp.solvers.ordering.values import RulePolicy, RuleValues
from seqclass.pomdp.solvers.panel_policy import PanelPolicy
from seqclass.pomdp.solvers.simple import OrderBoundPolicy
from seqclass.pomdp.solvers.thresholds import LinearThresholdPolicy
from seqclass.pomdp.sweeps.ladder import StopWhenSure

HOSTILE = "<img src=x onerror=\"alert(1)\"> & 'co' </script><script>alert(2)</script>"


def _mixed(n: int = 300) -> tuple[pd.DataFrame, Any]:
    """A category, a number that is mostly zero, one of a group, and names that look like markup."""
    rng = np.random.default_rng(3)
    y = rng.choice(["<b>no</b>", "yes", "may\"be'"], n)
    usual = pd.Series(y).map({"yes": "green", "<b>no</b>": "red", "may\"be'": "am&er"}).to_numpy()
    colour = np.where(rng.random(n) < 0.7, usual, rng.permutation(usual))
    amount = np.where(rng.random(n) < 0.55, 0.0, rng.normal(size=n) + 2.0 * (y == "yes"))
    level = rng.normal(size=n) + 1.5 * (y == "<b>no</b>")
    more = rng.normal(size=n) + 1.0 * (y == "yes") - level / 2
    frame = pd.DataFrame({HOSTILE: colour, "amount": amount, "level": level, "more??/": more})
    return frame, y


class _Sure(Solver):
    """Asks until deciding is expected to cost little, as a certified classifier does."""

    def solve(self, problem: Any) -> Any:
        return StopWhenSure(FirstK(0).solve(problem), 0.05, 3)


class _Ladder(Solver):
    """As far as another solver's questions lead: until deciding is expected to cost little."""

    def __init__(self, inner: Solver, cost: float, most: int | None = None) -> None:
        self.inner, self.cost, self.most = inner, cost, most

    def solve(self, problem: Any) -> Any:
        return StopWhenSure(self.inner.solve(problem), self.cost, self.most)


class _Panels(Solver):
    """Panels of any size, on values that pairs were learnt on."""

    def solve(self, problem: Any) -> Any:
        values = FixedPanels(2, **_PANELS).solve(problem).values
        return PanelPolicy(values, (1, problem.n_questions), n_branches=6)


class _Improved(Solver):
    """One step of look-ahead on the values of a rule, whether it costs less or not."""

    def solve(self, problem: Any) -> Any:
        values = _along(ClassInformation()).solve(problem).values
        rule = ImprovedRule(values, 3)
        again = RuleValues(problem, rule, values.n_stages)
        again.weights = [None, *values.weights[1:]]
        return RulePolicy(again)


class _OnBounds(Solver):
    """One step on bounds over all orders, near or not."""

    def solve(self, problem: Any) -> Any:
        return OrderBoundPolicy(RepeatValues(problem))


class _Thresholds(Solver):
    """Goes on where no class is likely enough."""

    def solve(self, problem: Any) -> Any:
        return LinearThresholdPolicy(problem, [[[-1, 9], [9, -1]]] * 6)


def _along(rule: Any, **settings: Any) -> Adaptive:
    """Stopping along a rule, by regression."""
    few = {"n_paths": 200, "exact_expectation": False, "n_cases": 50, "certificate_paths": 0}
    return Adaptive([rule], **(few | {"max_rounds": 0, "search_nodes": 0, "max_nodes": 0} | settings))


def _tumours(n: int = 12) -> tuple[pd.DataFrame, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    columns = [0, 1, 4, 6, 7, 10, 20, 21, 23, 24, 26, 27][:n]
    return X.iloc[:, columns], y.map({0: "ill", 1: "well"})


def _all_tumours() -> tuple[pd.DataFrame, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y.map({0: "ill", 1: "well"})


def _pointed(n: int = 500) -> tuple[pd.DataFrame, Any]:
    """A category says which of three numbers tells the class; cells are missing."""
    rng = np.random.default_rng(0)
    kind, y = rng.integers(0, 3, n), rng.integers(0, 2, n)
    told = [np.where(kind == k, y, rng.integers(0, 2, n)) + rng.normal(0, 0.4, n) for k in range(3)]
    frame = pd.DataFrame({"kind": np.array(["x", "y", "z"])[kind], "a": told[0], "b": told[1], "c": told[2]})
    frame["d"] = y + rng.normal(size=n)
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n) < 0.1, "kind"] = None
    return frame, np.where(y, "ill", "well")


def _free(solver: Solver | None, model: Any = None, data: Any = None, **settings: Any) -> SequentialClassifier:
    """A classifier that asks in any order, unless told."""
    usual = {"order": "adaptive", "discretizer": Discretizer(5), "feature_costs": 0.01}
    model = ClassMixture(3, random_state=0) if model is None else model
    return SequentialClassifier(model, solver=solver, **(usual | settings)).fit(*(_tumours() if data is None else data))


def _constant() -> tuple[pd.DataFrame, Any]:
    """Tumours, with columns that tell nothing first and in the middle."""
    X, y = _tumours(3)
    for place, name in ((0, "none"), (2, "same")):
        X.insert(place, name, 1.0)
    return X, y


def _sets(model: Any, order: str, costs: Any = 0.02, by_class: bool = False, **settings: Any) -> SequentialClassifier:
    """A classifier that says which classes are possible, made of half of the wines."""
    X, y = _wines(4)
    if settings.get("missing"):
        X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    clf = SequentialClassifier(model, order=order, discretizer=Discretizer(3), feature_costs=costs, **settings)
    return certify_differential(clf.fit(X[::2], y[::2]), X[1::2], y[1::2], alpha=0.1, by_class=by_class)


_BLOOD = {
    "feature_costs": 0.04,
    "groups": ["blood"] * 4 + [None] * 4 + ["urine"] * 4,
    "discounted_costs": 0.005,
}
_BLOOD_OF_6 = {"feature_costs": 0.02, "groups": ["blood"] * 3 + [None] * 3, "discounted_costs": 0.005}
_BLOOD_OF_7 = Costs(0.02, groups=["blood"] * 3 + ["urine", None] * 2, discounted_costs=0.005)
_DEARER = Costs(np.linspace(0.01, 0.04, 8))
_SAMPLE = Costs(0.02, bundles=["a"] * 5 + [None] * 7)
_INFORMED = _along(ClassInformation())
_BOUNDED = Adaptive(max_nodes=50_000, certificate_paths=500)
#: Models by name that ask as an ordering rule says, or are stopped in ways of their own.
_MADE: dict[str, Callable[[], SequentialClassifier]] = {
    "items": lambda: SequentialClassifier.from_model(
        ItemResponse.from_items(
            {"a": [1.6, 2.0, 0.8, 1.4, 1.1], "b": [-0.5, 0.2, 0.0, 1.0, -1.4], "c": [0.2, 0.25, 0.2, 0.1, 0.2]},
            [-0.5, 0.7],
            labels=["novice", "able", "expert"],
            points=21,
        ),
        feature_costs=0.02,
        solver=_INFORMED,
    ),
    "skills": lambda: SequentialClassifier.from_model(
        SkillProfile.from_items([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]], 0.2, 0.1, target=1),
        feature_costs=0.02,
        solver=_INFORMED,
    ),
    "bundles": lambda: _free(_INFORMED, feature_costs=Costs(0.02, bundles=["a", "a", None, "b", "b"] + [None] * 7)),
    "mixture of the documentation": lambda: _free(_INFORMED),
    "groups": lambda: _free(_INFORMED, feature_costs=Costs(charge_missing=True, **_BLOOD)),
    "drawn bundle": lambda: _free(_INFORMED, feature_costs=_SAMPLE),
    "fixed drawn bundle": lambda: _free(Lookahead(1, certificate_paths=0), order="conditional", feature_costs=_SAMPLE),
    "contexts": lambda: _free(
        _along(HiddenInformation()), ContextBayes("kind", random_state=0), _pointed(), feature_costs=0.02
    ),
    "ladder": lambda: _free(_Ladder(_INFORMED, 0.02, 9)),
    "ladder, constant": lambda: _free(_Ladder(FirstK(1, certificate_paths=0), 0.001), NaiveBayes(), _constant()),
    "calibrated": lambda: _free(_INFORMED, calibrate=True),
    "hidden information": lambda: _free(_along(HiddenInformation()), data=load_wine(return_X_y=True, as_frame=True)),
    "ec2": lambda: _free(_along(EC2()), data=load_wine(return_X_y=True, as_frame=True)),
    "cross entropy": lambda: _free(_along(CrossEntropy(per_price=True))),
    "expected saving": lambda: _free(_along(ExpectedSaving()), NaiveBayes()),
    "given order": lambda: _free(_along(GivenOrder([3, 1, 5, 0, 2]))),
    "looking ahead": lambda: _free(_along(LookaheadSaving(2, 3))),
    "improved": lambda: _free(_Improved(), data=_tumours(6)),
    "first": lambda: _free(FirstK(4, rule=ClassInformation(), certificate_paths=0)),
    "first open": lambda: _free(FirstK(4, certificate_paths=0)),
    "sets": lambda: _sets(ClassMixture(3, random_state=0), "adaptive"),
    "sets, tree": lambda: _sets(TreeNetwork(), "conditional"),
    "sets, missing tells": lambda: _sets(NaiveBayes(), "adaptive", missing="informative"),
    "sets, visits": lambda: _sets(NaiveBayes(), "adaptive", Costs(0.01, visit_cost=0.02)),
    "likely": lambda: _free(PosteriorThreshold(0.95, rule=EC2(), certificate_paths=0)),
    "lookahead": lambda: _free(Lookahead(2, n_candidates=3, certificate_paths=0)),
    "fixed lookahead": lambda: _free(Lookahead(2, certificate_paths=0), order="conditional"),
    "search": lambda: _free(ExactFreeOrder(2000, certificate_paths=0), data=_tumours(8), feature_costs=0.02),
    "listed": lambda: _free(Adaptive(), NaiveBayes(), _tumours(8), feature_costs=0.02),
    "search, groups": lambda: _free(
        ExactFreeOrder(2000, certificate_paths=0),
        data=_tumours(6),
        feature_costs=Costs(charge_missing=True, **_BLOOD_OF_6),
    ),
    "search, budgets": lambda: _free(
        ExactFreeOrder(2000, certificate_paths=0),
        data=_tumours(8),
        max_cost=0.08,
        max_features=4,
        feature_costs=_DEARER,
    ),
    "search, groups, a wait, max_cost": lambda: _free(
        ExactFreeOrder(300, certificate_paths=0),
        data=_tumours(8),
        max_cost=0.12,
        feature_costs=Costs(
            [0.0242, 0.0183, 0.0147, 0.0143, 0.027, 0.0286, 0.0237, 0.0257],
            groups=[0, 0, 0, 1, 1, None, None, None],
            discounted_costs=0.004,
            delays=[0, 2, 0, 0, 0, 0, 0, 0],
            delay_cost=0.004,
        ),
    ),
    "search, ladder": lambda: _free(
        _Ladder(ExactFreeOrder(2000, certificate_paths=0), 0.002, 6),
        data=(_tumours(7)[0].assign(same=1.0), _tumours(7)[1]),
        feature_costs=0.02,
    ),
    "few of many": lambda: _free(
        ExactFreeOrder(), data=_all_tumours(), discretizer=Discretizer(3), max_features=2, feature_costs=0.02
    ),
    "listed, groups": lambda: _free(
        ExactFreeOrder(), NaiveBayes(), _tumours(7), discretizer=Discretizer(4), feature_costs=_BLOOD_OF_7
    ),
    "listed, max_features": lambda: _free(
        ExactFreeOrder(),
        NaiveBayes(),
        _tumours(7),
        discretizer=Discretizer(4),
        max_features=3,
        feature_costs=_BLOOD_OF_7,
    ),
    "listed, max_cost": lambda: _free(
        ExactFreeOrder(),
        NaiveBayes(),
        _tumours(7),
        discretizer=Discretizer(4),
        max_cost=0.08,
        feature_costs=Costs(np.linspace(0.01, 0.03, 7), charge_missing=True),
    ),
    "bounds": lambda: _free(_BOUNDED, NaiveBayes(), _tumours(8), feature_costs=0.02),
    "bounds of 3": lambda: _free(_BOUNDED, NaiveBayes(), _wines(8), feature_costs=0.02),
    "max_features": lambda: _free(_INFORMED, max_features=4),
    "no decision is free": lambda: _free(
        _INFORMED, feature_costs=Costs(0.02, decision_costs=[[0.4, 1.5], [1.3, 0.15]])
    ),
    "max_cost": lambda: _free(_INFORMED, max_cost=0.09, feature_costs=Costs(**_BLOOD)),
    "functions": lambda: _free(
        FittedValueIteration(300, certificate_paths=0), NaiveBayes(), _wines(8), order="conditional"
    ),
    "thresholds": lambda: _free(_Thresholds(), NaiveBayes(), order="conditional"),
    "known first": lambda: _free(_Ladder(FirstK(0, certificate_paths=0), 0.02), max_features=5),
    "known at the start": lambda: _free(
        GridValueIteration(30, certificate_paths=0),
        NaiveBayes(),
        order="conditional",
        known=["mean texture", "radius error"],
    ),
    "known at the start, fixed tree": lambda: _free(
        None, TreeNetwork(), _tumours(7), order="conditional", known=["mean texture", "radius error"]
    ),
    "known at the start, fixed mixture": lambda: _free(
        None, None, _tumours(6), order="conditional", known=["mean texture", "radius error"]
    ),
    "known at the start, mixture": lambda: _free(_INFORMED, max_features=4, known=["mean texture", "radius error"]),
}


_NETWORK = random_network(26, 12)
_MADE |= {
    "network": lambda: SequentialClassifier.from_network(
        _NETWORK, "n0", questions=[f"n{j}" for j in (11, 2, 9, 1, 4, 8, 6)], feature_costs=0.005, solver=_along(EC2())
    ),
    "network, known at the start": lambda: SequentialClassifier.from_network(
        random_network(26, 12, zeros=0.3), "n0", feature_costs=0.005, solver=_along(EC2()), known=["n2", "n9"]
    ),
    "network, joint targets": lambda: SequentialClassifier.from_network(
        _NETWORK, ["n0", "n9"], feature_costs=0.01, solver=_along(LookaheadSaving(2, 3))
    ),
    "tree, any order": lambda: _free(_along(CrossEntropy()), TreeNetwork("forest")),
    "tree, improved": lambda: _free(_Improved(), TreeNetwork(), _tumours(6), feature_costs=Costs(**_BLOOD_OF_6)),
    "tree, search": lambda: _free(
        ExactFreeOrder(2000, certificate_paths=0), TreeNetwork(), _tumours(4), discretizer=Discretizer(3)
    ),
    "tree, ladder": lambda: _free(_Ladder(_along(ExpectedSaving()), 0.02, 9), TreeNetwork(), max_features=7),
    "tree, calibrated": lambda: _free(_INFORMED, TreeNetwork(), _tumours(8), calibrate=True, max_cost=0.05),
    "clique, likely": lambda: _free(
        PosteriorThreshold(0.95, rule=EC2(), certificate_paths=0),
        TreeNetwork("clique", conditioning="full"),
        _tumours(4),
        discretizer=Discretizer(3),
    ),
    "fixed tree, corrected": lambda: _free(
        ProjectedValueIteration(
            GridValueIteration(20, certificate_paths=0), max_contexts=10, n_beliefs=300, certificate_paths=0
        ),
        TreeNetwork(),
        _tumours(),
        order="conditional",
        discretizer=Discretizer(8),
    ),
    "fixed tree, corrected functions": lambda: _free(
        ProjectedValueIteration(FittedValueIteration(200), max_contexts=4, n_beliefs=200, certificate_paths=0),
        TreeNetwork(),
        _wines(10),
        order="conditional",
        discretizer=Discretizer(8),
    ),
    "ifc2f": lambda: ifc2f(0.01).fit(*_all_tumours()),
    "fixed tree, vectors": lambda: _free(
        Perseus(100, certificate_paths=0), TreeNetwork(), _tumours(5), order="conditional", discretizer=Discretizer(3)
    ),
    "fixed tree, lookahead": lambda: _free(Lookahead(2, certificate_paths=0), TreeNetwork(), order="conditional"),
}


def _gaps() -> tuple[pd.DataFrame, Any]:
    """The same as numbers and categories whose missing cells tell of the class."""
    X, y = _pointed()
    rng = np.random.default_rng(5)
    for name in ("b", "c", "kind"):
        X.loc[rng.random(len(y)) < np.where(y == "ill", 0.6, 0.1), name] = np.nan if name != "kind" else None
    return X, y


_GAPS: dict[str, Any] = {"missing": "informative", "feature_costs": 0.02}
_MADE |= {
    "missing tells": lambda: _free(_INFORMED, data=_gaps(), **_GAPS),
    "missing tells, bundles": lambda: _free(
        _INFORMED, data=_gaps(), **_GAPS | {"feature_costs": Costs(0.03, bundles=["s", "s", None, "t", "t"])}
    ),
    "missing tells, fixed tree": lambda: _free(
        None, TreeNetwork(), _gaps(), order="conditional", **_GAPS, discretizer=Discretizer(3)
    ),
}
_TOLD: dict[str, Any] = {"data": _gaps(), "known": ["kind", "b"]} | _GAPS
_MADE |= {
    "missing tells, known at the start": lambda: _free(_INFORMED, **_TOLD),
    "missing tells, mixture, calibrated": lambda: _free(
        _INFORMED, ClassMixture(2, random_state=0), calibrate=True, **_TOLD
    ),
    "missing tells, tree, known": lambda: _free(_INFORMED, TreeNetwork(), discretizer=Discretizer(3), **_TOLD),
    "missing tells, fixed tree, known": lambda: _free(
        None, TreeNetwork(), order="conditional", discretizer=Discretizer(3), **_TOLD
    ),
    "missing tells, visits": lambda: _free(
        _Panels(), **_TOLD | {"feature_costs": Costs(0.02, visit_cost=0.02, charge_missing=True)}
    ),
    "missing tells, visits, bundles": lambda: _free(
        _Panels(),
        **_TOLD | {"known": [], "feature_costs": Costs(0.02, visit_cost=0.02, bundles=["s", "s", "t", "t", None])},
    ),
    "missing tells, max_cost": lambda: _free(_INFORMED, max_cost=0.05, **_TOLD),
    "missing tells, max_features": lambda: _free(_INFORMED, max_features=2, **_TOLD),
}
_VISIT = {"visit_cost": 0.03, "delays": [3, 0, 1] * 4, "delay_cost": 0.01}
_PANELS: dict[str, Any] = {"n_paths": 150, "certificate_paths": 0}
_MADE |= {
    "visits": lambda: _free(_Panels(), feature_costs=Costs(0.005, max_panel=4, **_VISIT)),
    "visits, planned": lambda: _free(
        Panels(certificate_paths=0),
        NaiveBayes(),
        _tumours(5),
        discretizer=Discretizer(3),
        feature_costs=Costs(
            0.03, visit_cost=0.01, groups=["a", "a", "b", None, "b"], discounted_costs=0.01, charge_missing=True
        ),
    ),
    "visits, fixed order": lambda: _free(
        _Panels(),
        order="conditional",
        feature_costs=Costs(
            [0.06, 0.02, 0.01] * 4, visit_cost=0.01, max_panel=3, groups=["a"] * 6 + ["b"] * 6, discounted_costs=0.005
        ),
    ),
    "fixed order, a visit each, max_cost": lambda: _free(
        GridValueIteration(30, certificate_paths=0),
        NaiveBayes(),
        order="conditional",
        max_cost=0.25,
        feature_costs=Costs(
            [0.02, 0.01, 0.01] * 4, visit_cost=0.02, max_panel=1, groups=["a"] * 12, discounted_costs=0.005
        ),
    ),
    "visits, bundles": lambda: _free(
        _Panels(), feature_costs=Costs(0.01, visit_cost=0.02, bundles=["a", "a", None, "b", "b"] + [None] * 7)
    ),
    "visits, budgets": lambda: _free(
        _Panels(),
        max_features=6,
        max_cost=0.12,
        feature_costs=Costs(visit_cost=0.02, **_BLOOD | {"feature_costs": [0.05, 0.03, 0.01, 0.02] * 3}),
    ),
    "visits, pairs": lambda: _free(FixedPanels(2, **_PANELS), feature_costs=Costs(0.004, visit_cost=0.01)),
    "visits, once": lambda: _free(FixedPanels(4, once=True, **_PANELS), feature_costs=Costs(0.004, visit_cost=0.01)),
    "visits, three classes": lambda: _free(
        _Panels(), NaiveBayes(), _wines(9), feature_costs=Costs(0.004, visit_cost=0.008)
    ),
    "visits, ladder": lambda: _free(
        _Ladder(_Panels(), 0.02, 7), feature_costs=Costs(0.004, visit_cost=0.01, max_panel=4)
    ),
    "visits, ladder, constant": lambda: _free(
        _Ladder(_Panels(), 0.001), data=_constant(), feature_costs=Costs(0.004, visit_cost=0.01, max_panel=2)
    ),
    "visits, ladder of one": lambda: _free(
        _Ladder(FixedPanels(2, once=True, **_PANELS), 0.02), feature_costs=Costs(0.004, visit_cost=0.01)
    ),
    "visits, planned ladder": lambda: _free(
        _Ladder(Panels(certificate_paths=0), 0.01, 3),
        NaiveBayes(),
        _tumours(5),
        discretizer=Discretizer(3),
        feature_costs=Costs(0.003, visit_cost=0.02),
    ),
    "visits, tree": lambda: _free(
        _Panels(), TreeNetwork(), _tumours(7), feature_costs=Costs(0.005, max_panel=4, visit_cost=0.01)
    ),
    "visits, one at a time": lambda: _free(_INFORMED, feature_costs=Costs(0.004, visit_cost=0.01, charge_missing=True)),
}
_AREAS = Rules(
    {"size": {"items": [0, 1, 2], "at_least": 1, "at_most": 2}, "form": {"items": [3, 4, 5, 8], "at_least": 2}},
    enemies=[[0, 3], [2, 6], [9, 10, 11]],
    first=[7],
    mandatory=[9],
)
_FEW_AREAS = Rules({"size": {"items": [0, 1], "at_least": 1}}, enemies=[[1, 2], [3, 4]], first=[2])


def _skipping(solver: Any, model: Any = None, **settings: Any) -> SequentialClassifier:
    """Numbers that are asked after answers to others only, and one that follows from two of these."""
    X, y = _pointed()
    X["none"] = np.where(X["kind"] == "x", "no", "yes")
    X["last"] = np.where(np.nan_to_num(X["a"]) > 0.5, "up", "down")
    logic = SkipLogic(
        [
            SkipRule("a", "kind", ["x", "y"]),
            SkipRule("b", "last", ["up"], match="any"),
            SkipRule("b", "none", ["yes"], match="any"),
            SkipRule("c", "last"),
            SkipRule("none", "kind", ["x"], implied="no"),
            SkipRule("last", "none", ["no"], implied="down"),
        ]
    )
    rules = settings.pop("more", Rules)(skip=logic)
    return _free(solver, model, (X, y), **{"discretizer": Discretizer(3), "rules": rules} | settings)


def _marked(solver: Any, model: Any = None, n_marks: int = 12, **settings: Any) -> SequentialClassifier:
    """A question with several marks, one of which opens another question, beside plain ones."""
    X, y = _pointed()
    rng = np.random.default_rng(2)
    has = rng.random((len(X), n_marks)) < np.where(y == "ill", 0.5, 0.2)[:, None]
    has[:, 0] = X["kind"] == "x"
    X["where"] = ["; ".join(f"m{j}" for j in np.flatnonzero(row)) or "none of these" for row in has]
    costs = Costs(settings.pop("price", 0.01), marks=["where"], prices_after=settings.pop("prices_after", None))
    return _free(solver, model, (X, y), discretizer=Discretizer(3), feature_costs=costs, **settings)


#: Prices and questions that depend on marks.
_ON_MARKS: dict[str, Any] = {
    "prices_after": {("a", ("where: m0", "yes")): 0.001, ("b", "where: m1", "a"): 0.03, ("where", "kind"): 0.004},
    "rules": SkipLogic({"c": {"after": "where: m1", "answers": "yes"}}),
}
_MADE |= {
    "marks": lambda: _marked(_INFORMED, NaiveBayes()),
    "marks, mixture": lambda: _marked(_INFORMED, n_marks=70),
    "marks, skips": lambda: _marked(_INFORMED, NaiveBayes(), 4, rules=SkipLogic({"a": "kind"}), known=["kind"]),
    "marks, tree": lambda: _marked(_INFORMED, TreeNetwork(), 3),
    "marks, fixed tree": lambda: _marked(Lookahead(2, certificate_paths=0), TreeNetwork(), 3, order="conditional"),
    "marks, fixed mixture": lambda: _marked(None, n_marks=4, order="conditional"),
    "prices, marks, skips": lambda: _marked(_INFORMED, n_marks=70, **_ON_MARKS),
    "prices, marks, search": lambda: _marked(
        ExactFreeOrder(certificate_paths=0), NaiveBayes(), 2, **_ON_MARKS, max_cost=0.03
    ),
    "prices, marks, known": lambda: _marked(
        _INFORMED,
        NaiveBayes(),
        4,
        known=["where"],
        rules=_ON_MARKS["rules"],
        prices_after={("c", "a", ("kind", "x")): 0.0},
    ),
    "prices after, ladder": lambda: _skipping(
        _Ladder(_INFORMED, 0.02, 5),
        feature_costs=Costs(0.01, prices_after={("d", "last"): 0.001, ("c", ("none", "no")): 0.03}),
    ),
    "prices after": lambda: _free(
        _INFORMED,
        data=(_pointed()[0][["kind", "a", "b"]], _pointed()[1]),
        discretizer=Discretizer(3),
        feature_costs=Costs(0.01, prices_after={("a", ("kind", "x")): 0.002, ("b", "a"): 0.05}),
    ),
    "areas": lambda: _free(_INFORMED, rules=_AREAS),
    "areas, groups": lambda: _free(_INFORMED, rules=_AREAS, max_features=6, feature_costs=Costs(**_BLOOD)),
    "areas, max_cost": lambda: _free(_INFORMED, rules=Rules(enemies=_AREAS.enemies, first=[7]), max_cost=0.05),
    "areas, improved": lambda: _free(_Improved(), data=_tumours(6), rules=_FEW_AREAS),
    "areas, ladder": lambda: _free(_Ladder(_INFORMED, 0.02, 9), rules=_AREAS),
    "areas, likely": lambda: _free(PosteriorThreshold(0.9, certificate_paths=0), rules=_AREAS),
    "areas, looking ahead": lambda: _free(_along(LookaheadSaving(2, 3)), data=_tumours(6), rules=_FEW_AREAS),
    "areas, lookahead": lambda: _free(
        Lookahead(2, n_candidates=3, certificate_paths=0), data=_tumours(7), rules=_FEW_AREAS
    ),
    "areas, search": lambda: _free(
        ExactFreeOrder(certificate_paths=0), data=_tumours(5), discretizer=Discretizer(3), rules=_FEW_AREAS
    ),
    "areas, bounds": lambda: _free(_OnBounds(), NaiveBayes(), _tumours(6), feature_costs=0.02, rules=_FEW_AREAS),
    "areas, tree": lambda: _free(_INFORMED, TreeNetwork(), rules=_AREAS, discretizer=Discretizer(3)),
    "areas tied by enemies": lambda: _free(
        _INFORMED,
        rules=Rules(
            {"one": {"items": [0, 1, 2], "at_least": 2}, "two": {"items": [3, 4, 5], "at_least": 2}},
            enemies=[[0, 3], [2, 5, 6]],
        ),
    ),
    "skips": lambda: _skipping(_INFORMED),
    "skips, tree": lambda: _skipping(_INFORMED, TreeNetwork()),
    "skips, search": lambda: _skipping(
        ExactFreeOrder(certificate_paths=0), NaiveBayes(), more=partial(Rules, first=["kind"], mandatory=["d"])
    ),
    "skips, ladder, known": lambda: _skipping(_Ladder(_INFORMED, 0.02, 4), known=["kind"]),
    "skips, missing tells, known": lambda: _skipping(_INFORMED, known=["kind"], missing="informative"),
    "skips, fixed order": lambda: _skipping(FirstK(4, certificate_paths=0), order="given", more=lambda skip: skip),
}


def _wines(n: int) -> tuple[pd.DataFrame, Any]:
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X.iloc[:, :n], y


def _make(name: str) -> SequentialClassifier:
    if name == "grid2":
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        clf = SequentialClassifier(solver=GridValueIteration(200, certificate_paths=0))
        return clf.fit(X, y.map({0: "ill", 1: "well"}))
    if name == "grid3":
        X, y = _mixed()
        costs = {HOSTILE: 0.02, "amount": 0.03, "level": 0.05, "more??/": 0.05}
        return SequentialClassifier(
            feature_costs=Costs(
                costs,
                groups=[None, None, "blood", "blood"],
                discounted_costs=[0.02, 0.03, 0.01, 0.01],
                charge_missing=True,
            ),
            solver=GridValueIteration(20, certificate_paths=0),
        ).fit(X, y)
    if name == "spelt":  # categories come with blanks at their edges, and one of them is shown by no row
        X, y = _mixed()
        colour = np.where(np.arange(len(y)) % 2, X[HOSTILE], X[HOSTILE] + " ")
        X[HOSTILE] = pd.Categorical(colour).add_categories(["\tblue"])
        return SequentialClassifier(solver=GridValueIteration(20, certificate_paths=0), feature_costs=0.03).fit(X, y)
    if name.startswith("discounts"):  # both of a group cost much, and after the other one next to nothing
        rng = np.random.default_rng(1)
        y = rng.integers(0, 3 if "vectors" in name else 2, 600)
        X = np.column_stack([y + rng.normal(0, scale, 600) for scale in (0.6, 1.2, 1.0, 0.8)])
        solver = (
            Perseus(100, certificate_paths=0) if "vectors" in name else GridValueIteration(200, certificate_paths=0)
        )
        costs = Costs(0.15, groups=[0, 0, 1, 1], discounted_costs=0.005, charge_missing="charged" in name)
        order, bins = [0, 1, 2, 3], Discretizer(4)
        return SequentialClassifier(solver=solver, order=order, discretizer=bins, feature_costs=costs).fit(X, y)
    if name.startswith("refer"):
        costs = {"feature_costs": Costs(0.03, decision_costs=DOUBT_COSTS, decisions=["refer"])}
        order = "adaptive" if "adaptive" in name else "conditional"
        return SequentialClassifier(order=order, **costs).fit(*doubtful(400))
    if name == "vectors":
        X, y = load_wine(return_X_y=True, as_frame=True)
        return SequentialClassifier(solver=Perseus(100, certificate_paths=0), max_features=6).fit(X, y)
    if name == "sure":
        X, y = load_iris(return_X_y=True, as_frame=True)
        return SequentialClassifier(solver=_Sure()).fit(X, y)
    if name in ("tree", "graph"):  # likelihoods by ancestors are those of no network, and so a graph
        X, y = _mixed()
        model, bins = TreeNetwork("tree" if name == "tree" else "clique"), Discretizer(3)
        groups, less = [None, None, "blood", "blood"], [0.02, 0.02, 0.01, 0.01]
        costs = Costs(0.02, groups=groups, discounted_costs=less, charge_missing=True)
        return SequentialClassifier(model, feature_costs=costs, discretizer=bins).fit(X, y)
    if name.startswith("graph, a wait"):
        less, order = {"amount": 0.02, "level": 0.01}, "given" if "fixed" in name else "adaptive"
        costs = Costs(
            0.02, groups=dict.fromkeys(less, "blood"), discounted_costs=less, delays={"level": 3.0}, delay_cost=0.01
        )
        return SequentialClassifier(
            TreeNetwork("clique"), order=order, feature_costs=costs, discretizer=Discretizer(3)
        ).fit(*_mixed())
    if name == "adaptive":
        X, y = load_iris(return_X_y=True, as_frame=True)
        return SequentialClassifier(order="adaptive", feature_costs=0.03).fit(X, y)
    if name in _MADE:
        return _MADE[name]()
    assert "mixture" in name
    X, y = _mixed()
    costs = {HOSTILE: 0.02, "amount": 0.03, "level": 0.05, "more??/": 0.05}
    model, order = ClassMixture(2, random_state=0), "given" if name == "fixed mixture" else "adaptive"
    return SequentialClassifier(model, order=order, discretizer=Discretizer(3), feature_costs=costs).fit(X, y)


def _hearts(n: int = 300) -> pd.DataFrame:
    """Patients with numbers, categories in words, and cells that are missing."""
    rng = np.random.default_rng(5)
    ill = rng.random(n) < 0.45
    frame = pd.DataFrame(
        {
            "age": np.round(rng.normal(54, 9, n) + 4 * ill),
            "sex": np.where(rng.random(n) < 0.6 + 0.15 * ill, "male", "female"),
            "chest pain": np.where(rng.random(n) < 0.35 + 0.4 * ill, "none", rng.choice(["typical", "atypical"], n)),
            "pressure": np.round(rng.normal(130, 17, n) + 4 * ill),
            "ecg": rng.choice(["normal", "st-t", "hypertrophy"], n, p=[0.5, 0.05, 0.45]),
            "rate": np.round(rng.normal(158, 19, n) - 19 * ill),
            "angina": np.where(rng.random(n) < 0.15 + 0.4 * ill, "yes", "no"),
            "oldpeak": np.round(np.maximum(0, rng.normal(0.4, 0.8, n) + ill), 1),
            "vessels": np.minimum(3, rng.poisson(0.3 + 0.9 * ill)),
            "thal": np.where(rng.random(n) < 0.75 - 0.5 * ill, "normal", rng.choice(["fixed", "reversible"], n)),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.05).assign(disease=np.where(ill, "yes", "no"))


def _by_default(name: str, folder: Path, request: pytest.FixtureRequest) -> SequentialClassifier:
    """What ``seqclass fit``, or ``plan``, makes without options."""
    data, arguments = folder / "data.csv", ["fit", "--target", "disease"]
    if name == "heart":
        _hearts().to_csv(data, index=False)
    elif name == "tumours":
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        X.assign(disease=y.map({0: "malignant", 1: "benign"})).to_csv(data, index=False)
    else:
        found = request.getfixturevalue("data_dir")
        data = found / ("spambase.npz" if name == "spambase" else "networks/hepar2.bif.gz")
        arguments = ["fit"] if name == "spambase" else ["plan", "--target", "Cirrhosis", "--price", "0.003"]
        if not data.is_file():
            pytest.skip(f"no real data: {data.name} is not among them")
    path = str(folder / "model.seq")
    done = CliRunner().invoke(main, [arguments[0], str(data), *arguments[1:], "--quiet", "-o", path])
    assert done.exit_code == 0, done.output
    return load(path)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Callable[[str], Any]:
    """A fitted model by name; each is fitted once."""
    made: dict[str, SequentialClassifier] = {}

    def get(name: str) -> SequentialClassifier:
        if name not in made and name.startswith("default"):
            made[name] = _by_default(name.split(", ")[1], tmp_path_factory.mktemp("default"), request)
        elif name not in made:
            made[name] = _make(name)
        return made[name]

    return get


def _value(clf: SequentialClassifier, feature: Any, session: Any, rng: np.random.Generator) -> Any:
    """A category, or a number: in the range of training, beyond it, an edge, or zero."""
    if feature.categories:
        return f" {rng.choice(feature.categories)}\t"  # blanks at the edge are none of it
    low, high = session.training_range(feature.name)
    if clf.coder_.discretizer_ is None:  # outcomes are told as they are
        return float(rng.integers(low, high + 1))
    at = int(np.searchsorted(clf.coder_.numeric_, feature.column))
    edges = clf.coder_.discretizer_.bin_edges_[at]
    wild = [float(rng.choice(edges[np.isfinite(edges)])) if np.isfinite(edges).any() else low, 0.0]
    return [*[float(rng.uniform(low - 0.1, high + 0.1))] * 4, *wild][rng.integers(6)]


def _values(clf: SequentialClassifier, question: Any, session: Any, rng: np.random.Generator) -> Any:
    """A value, or of a bundle the values of most of its features."""
    if not question.features:
        return _value(clf, question, session, rng)
    return {f.name: _value(clf, f, session, rng) for f in question.features if rng.random() < 0.8}


def _against_rules(clf: SequentialClassifier, session: Any, rng: np.random.Generator) -> Any:
    """A question that was not answered, and that the rules do not leave, if there is one."""
    told = [one.name for one in (*session.history, *session.suggestions(99))]
    left = [name for name in map(str, clf.feature_names_in_) if name not in told]
    if not left or clf.rules.skip:
        return None
    name = str(rng.choice(left))
    column = clf.feature_names_in_.tolist().index(name)
    return SimpleNamespace(name=name, column=column, features=(), categories=session.categories(name))


def _in_range(session: Any, name: str, rng: np.random.Generator) -> Any:
    """A number that training showed, a category, or some marks."""
    if name == "where":
        return {f"where: m{j}": str(rng.choice(["no", "yes"])) for j in range(4) if rng.random() < 0.8}
    ends = session.training_range(name)
    return float(rng.choice(ends)) if ends else str(rng.choice(session.categories(name)))


def _told(saving: float) -> float | None:
    return None if np.isnan(saving) else saving


def _stands(session: Any) -> dict[str, Any]:
    asked, panel = session.next_feature, session.next_panel
    return {
        "panel": [[q.name, q.price] for q in panel],
        "visit": session.visit_cost,
        "visits": session.n_visits,
        "belief": session.posterior.tolist(),
        "asked": None if asked is None else asked.name,
        "price": None if asked is None else asked.price,
        "saving": None if asked is None else _told(asked.expected_saving),
        "added": None if asked is None else _told(asked.added_saving),
        "best": [] if asked is None else [[q.name, q.price, _told(q.saving_alone)] for q in session.suggestions(3)],
        "decision": str(session.decision),
        "set": None if session.differential is None else list(map(str, session.differential)),
        "cost": session.paid,
        "now": session.expected_cost,
    }


def _cases(clf: SequentialClassifier, any_order: bool) -> Iterator[dict[str, Any]]:
    """Random cases, one after another: answers, and where a session stands before each and at the end."""
    rng = np.random.default_rng(0)
    while True:
        session, answers, stands = clf.session(), [], []
        visits = isinstance(clf.feature_costs, Costs) and clf.feature_costs.visit_cost > 0
        impossible = isinstance(clf.model_, DiscreteNetwork)
        while True:
            stands.append(_stands(session))
            question = session.next_feature
            if len(session.next_panel) > 1 and rng.random() < 0.5:  # answers come in any order
                question = session.next_panel[-1]
            if visits and session.n_visits and len(session.next_panel) > 1 and rng.random() < 0.1:
                with suppress(ValueError):  # nothing is waited for
                    session.leave()
                    answers.append(["leave"])
                    continue
            if visits and len(answers) < 6 and rng.random() < 0.15:
                names = [one.name for one in session.suggestions(99)]
                some = [str(name) for name in rng.permutation(names)[:2]]
                with suppress(ValueError):  # something is waited for
                    session.order(some)
                    answers.append(["order", some])
                    continue
            others = session.suggestions(99) if any_order and rng.random() < 0.3 else []
            if others:
                question = others[rng.integers(len(others))]
            if any_order and isinstance(clf.rules, Rules) and rng.random() < 0.15:  # whatever the rules say of it
                question = _against_rules(clf, session, rng) or question
            if question is None or len(answers) == 8:
                break
            late = [name for name in clf.known or () if name not in [answer.name for answer in session.history]]
            at_last = any_order and late and rng.random() < 0.2  # what was to be told at the start
            question = SimpleNamespace(name=late[0]) if at_last else question
            known = bool(any_order and rng.random() < 0.2)
            value = None
            if rng.random() >= 0.15:
                value = _in_range(session, late[0], rng) if at_last else _values(clf, question, session, rng)
            if value is None:
                session.unavailable(question.name)
                known = False
            else:
                try:
                    session.observe(question.name, value, known=known)
                except ValueError:  # a network may say that it cannot be, which is looked at elsewhere
                    assert impossible
                    break
            answers.append([question.name, value, known])
            if rng.random() < 0.1:
                stands.append(_stands(session))
                session.undo()
                answers.append(["undo"])
        yield {"answers": answers, "stands": stands}


@pytest.fixture(scope="session")
def cases() -> Callable[..., list[dict[str, Any]]]:
    """``cases(clf, n, any_order)``: answers of random cases, and where a session stands; each is played once."""
    drawn: dict[tuple[Any, bool], tuple[Iterator[dict[str, Any]], list[dict[str, Any]]]] = {}

    def make(clf: SequentialClassifier, n: int, any_order: bool) -> list[dict[str, Any]]:
        following, found = drawn.setdefault((clf, any_order), (_cases(clf, any_order), []))
        found.extend(islice(following, max(n - len(found), 0)))
        return found[:n]

    return make
