"""Models to export, and what a session says of random cases of theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from headless import browser as browser
from live_cases import DOUBT_COSTS, doubtful
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture, TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.pomdp import DecideNow, GridValueIteration, Perseus, Solver, StopWhenSure

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
        return StopWhenSure(DecideNow().solve(problem), 0.05, 3)


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
    if name == "tree":  # of a fixed order, and yet a graph
        X, y = _mixed()
        model, bins = TreeNetwork(), Discretizer(3)
        groups, less = [None, None, "blood", "blood"], [0.02, 0.02, 0.01, 0.01]
        costs = Costs(0.02, groups=groups, discounted_costs=less, charge_missing=True)
        return SequentialClassifier(model, feature_costs=costs, discretizer=bins).fit(X, y)
    if name == "adaptive":
        X, y = load_iris(return_X_y=True, as_frame=True)
        return SequentialClassifier(order="adaptive", feature_costs=0.03).fit(X, y)
    assert "mixture" in name
    X, y = _mixed()
    costs = {HOSTILE: 0.02, "amount": 0.03, "level": 0.05, "more??/": 0.05}
    model, order = ClassMixture(2, random_state=0), "given" if name == "fixed mixture" else "adaptive"
    return SequentialClassifier(model, order=order, discretizer=Discretizer(3), feature_costs=costs).fit(X, y)


@pytest.fixture(scope="session")
def model() -> Callable[[str], SequentialClassifier]:
    """A fitted model by name; each is fitted once."""
    made: dict[str, SequentialClassifier] = {}

    def get(name: str) -> SequentialClassifier:
        if name not in made:
            made[name] = _make(name)
        return made[name]

    return get


def _value(clf: SequentialClassifier, question: Any, session: Any, rng: np.random.Generator) -> Any:
    """A category, or a number: in the range of training, beyond it, an edge, or zero."""
    if question.categories:
        return f" {rng.choice(question.categories)}\t"  # blanks at the edge are none of it
    low, high = session.training_range(question.name)
    at = int(np.searchsorted(clf.coder_.numeric_, question.column))
    edges = clf.coder_.discretizer_.bin_edges_[at]
    wild = [float(rng.choice(edges[np.isfinite(edges)])) if np.isfinite(edges).any() else low, 0.0]
    return [*[float(rng.uniform(low - 0.1, high + 0.1))] * 4, *wild][rng.integers(6)]


def _told(question: Any) -> float | None:
    return None if np.isnan(question.expected_saving) else question.expected_saving


def _stands(session: Any) -> dict[str, Any]:
    asked = session.next_feature
    return {
        "belief": session.posterior.tolist(),
        "asked": None if asked is None else asked.name,
        "price": None if asked is None else asked.price,
        "saving": None if asked is None else _told(asked),
        "best": [] if asked is None else [[q.name, q.price, _told(q)] for q in session.suggestions(3)],
        "decision": str(session.decision),
        "cost": session.cost,
        "now": session.expected_cost,
    }


@pytest.fixture(scope="session")
def cases() -> Callable[..., list[dict[str, Any]]]:
    """``cases(clf, n, any_order)``: answers of random cases, and where a session stands before each and at the end."""

    def make(clf: SequentialClassifier, n: int, any_order: bool) -> list[dict[str, Any]]:
        rng, found = np.random.default_rng(0), []
        for _ in range(n):
            session, answers, stands = clf.session(), [], []
            while True:
                stands.append(_stands(session))
                question = session.next_feature
                others = session.suggestions(99) if any_order and rng.random() < 0.3 else []
                if others:
                    question = others[rng.integers(len(others))]
                if question is None or len(answers) == 8:
                    break
                known = bool(any_order and rng.random() < 0.2)
                value = None if rng.random() < 0.15 else _value(clf, question, session, rng)
                if value is None:
                    session.unavailable(question.name)
                    known = False
                else:
                    session.observe(question.name, value, known=known)
                answers.append([question.name, value, known])
            found.append({"answers": answers, "stands": stands})
        return found

    return make
