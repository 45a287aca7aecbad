"""Keys of cells: the same for equal settings, different for different ones."""

from __future__ import annotations

import enum
from dataclasses import fields, replace
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from kinds_of_cost import PRICES, TABLE, costs_of
from sklearn.feature_selection import SelectKBest, chi2, f_classif
from sklearn.model_selection import StratifiedKFold

import seqclass
from seqclass import Costs
from seqclass.bn import TreeNetwork
from seqclass.datasets import Dataset, load
from seqclass.experiment._keys import canonical, fingerprint, key_of


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: int) -> None:
        self.x = x


def power(exponent: int) -> Any:
    return lambda x: x**exponent


#: Each maker gives the same thing each time; no two give the same.
MAKERS: list[Any] = [
    lambda: None,
    lambda: True,
    lambda: 1.5,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: "1",
    lambda: [1, 2],
    lambda: list(range(500)),
    lambda: [*range(499), 0],
    lambda: {"b": 1, "a": 2},
    lambda: {2, 1, 3},
    lambda: np.arange(3),
    lambda: np.arange(3.0),
    lambda: np.arange(3.0).reshape(1, 3),
    lambda: np.array(["a", None], dtype=object),
    lambda: sp.csr_array(np.eye(3)),
    lambda: sp.csr_array(2 * np.eye(3)),
    lambda: Colour.RED,
    lambda: Colour.BLUE,
    lambda: f_classif,
    lambda: chi2,
    lambda: np.exp,
    lambda: np.log,
    lambda: power(2),
    lambda: power(3),
    lambda: lambda x: x + 1,
    lambda: lambda x: x + 2,
    lambda: partial(power, 2),
    lambda: partial(power, 3),
    lambda: Slotted(1),
    lambda: Slotted(2),
    lambda: int,
    lambda: np.random.default_rng(0),
    lambda: np.random.default_rng(1),
    lambda: np.random.RandomState(0),
    lambda: StratifiedKFold(3),
    lambda: StratifiedKFold(4),
    lambda: SelectKBest(f_classif, k=3),
    lambda: SelectKBest(chi2, k=3),
    lambda: seqclass.etana(),
    lambda: seqclass.etana(0.02),
    lambda: seqclass.etana(random_state=1),
    lambda: seqclass.SequentialClassifier(TreeNetwork("tree")),
    lambda: nx.path_graph(3),
    lambda: nx.cycle_graph(3),
    lambda: pd.DataFrame({"a": [1.0, np.nan]}),
    lambda: pd.DataFrame({"b": [1.0, np.nan]}),
    lambda: pd.DataFrame({"a": ["x", None]}),
    lambda: pd.DataFrame({"a": ["None", "x"]}),
    lambda: pd.DataFrame({"a": pd.Categorical(["x", None])}),
]


def test_equal_settings_are_equal_and_no_two_others_are() -> None:
    keys = [key_of({"setting": canonical(make())}) for make in MAKERS]
    assert keys == [key_of({"setting": canonical(make())}) for make in MAKERS]
    assert len(set(keys)) == len(keys)


def test_how_a_setting_is_written_does_not_matter() -> None:
    for one, other in [
        ((1, 2), [1, 2]),
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.asfortranarray(np.eye(3)[:, :2]), np.eye(3)[:, :2]),
        (np.arange(6)[::2], np.array([0, 2, 4])),
        (np.arange(3, dtype=">i8"), np.arange(3, dtype="<i8")),
        (sp.csc_array(np.eye(3)), sp.csr_array(np.eye(3))),
    ]:
        assert canonical(one) == canonical(other)


def test_the_key_is_the_same_on_every_machine_and_version() -> None:
    settings = canonical({"price": 0.01, "seeds": [0, 1], "X": np.arange(4.0), "method": StratifiedKFold(3)})
    assert key_of({"price": 0.01, "X": canonical(np.arange(4.0))}) == "85d6c11ceb935bf5969b0e4d808ef1be"
    assert settings == canonical({"method": StratifiedKFold(3), "X": np.arange(4.0), "seeds": (0, 1), "price": 0.01})


def test_a_graph_that_was_looked_at_is_the_same() -> None:
    graph = nx.path_graph(3)
    before = canonical(graph)
    assert graph.adj[0] is not None
    assert len(graph.edges) == 2
    assert canonical(nx.path_graph(3)) == before


def test_what_cannot_be_told_apart_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot be read"):
        canonical({"rows": (i for i in range(3))})
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(TypeError, match="nested"):
        canonical(loop)


def test_the_fingerprint_follows_the_data() -> None:
    data = load("iris")
    mark = fingerprint(data)
    assert fingerprint(load("iris")) == mark
    assert fingerprint(replace(data, description="other words")) == mark
    X, y = data.X.copy(), data.y.copy()
    X[3, 2] += 1e-9
    y[0] = 2
    changed = [{"X": X}, {"y": y}, {"feature_costs": np.ones(4)}, {"decision_costs": 1 - np.eye(3)}]
    changed += [{"train_index": np.arange(5)}, {"X": data.frame()}, {"X": sp.csr_array(data.X)}]
    marks = [fingerprint(replace(data, **change)) for change in changed]
    assert len({mark, *marks}) == len(changed) + 1


def test_functions_are_told_apart_by_all_that_they_do() -> None:
    def made(source: str) -> Any:
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(source, space)
        return canonical(space["f"])

    sources = [
        "f = lambda X: [x * 2 for x in X]",
        "f = lambda X: [x * 3 for x in X]",
        "f = lambda X: (lambda: 2)()",
        "f = lambda X: (lambda: 3)()",
        "f = lambda X, *, k=2: k",
        "f = lambda X, *, k=3: k",
        "def f(X): return X * 2",  # of a script, which others cannot import
        "def f(X): return X * 3",
    ]
    keys = [key_of({"f": made(source)}) for source in sources]
    assert len(set(keys)) == len(sources)
    assert keys == [key_of({"f": made(source)}) for source in sources]


@pytest.mark.parametrize("name", TABLE)
def test_keys_of_experiments(name: str) -> None:
    plain, other = Costs(PRICES), Costs(**costs_of(name))
    assert key_of({"costs": canonical(plain)}) != key_of({"costs": canonical(other)})
    assert other.non_default_params() == costs_of(name)


#: What a data set says of costs. Its bundles bear on no result of an experiment, which asks for each column by itself.
OF_DATA: dict[str, Any] = {
    "feature_costs": np.array(PRICES),
    "discounted_costs": np.array(PRICES) / 2,
    "groups": ("a", "a", None, None),
    "decision_costs": np.array([[0, 1, 0.3], [1, 0, 0.3]]),
    "decisions": ("refer",),
    "visit_cost": 0.1,
    "delays": np.ones(4),
    "delay_cost": 0.2,
    "max_panel": 2,
}
IN_DATA = {field.name for field in fields(Dataset)} & TABLE.keys()


@pytest.mark.parametrize("name", sorted(IN_DATA))
def test_fingerprints_of_data(name: str) -> None:
    X, y = np.zeros((2, 4)), np.array([0, 1])
    if name == "bundles":
        assert Dataset("toy", X, y, ("a", "b"), **OF_DATA, bundles=("a", "a", None, None)).costs().bundles is None
        return
    value = OF_DATA[name]
    changed = OF_DATA | {name: tuple(part and "c" for part in value) if isinstance(value, tuple) else value * 2}
    one, two = (Dataset("toy", X, y, ("a", "b"), **said) for said in (OF_DATA, changed))
    assert fingerprint(one) != fingerprint(two)
