from __future__ import annotations

import numpy as np
import pytest
from network_cases import check_inference
from numpy.testing import assert_allclose, assert_array_equal

from seqclass.bn import ClassMixture, TreeNetwork


def random_mixture(seed, n_features=4):
    rng = np.random.default_rng(seed)
    classes = np.array([0, 0, 0, 1, 2, 2])
    weights = np.concatenate([rng.dirichlet(np.ones(n)) for n in (3, 1, 2)])
    tables = [rng.dirichlet(np.ones(size), 6).T for size in rng.integers(2, 4, n_features)]
    return ClassMixture.from_tables(["a", "b", "c"], rng.dirichlet(np.ones(3)), classes, weights, tables)


@pytest.mark.parametrize("seed", [0, 1])
def test_inference_is_variable_elimination(seed):
    model = random_mixture(seed)
    network = model.to_pgmpy()
    assert network.check_model()
    states = [list(range(V)) for V in model.n_outcomes_]
    check_inference(model, network, [f"x{j}" for j in range(4)], states, "class", seed)


def test_there_and_back():
    model = random_mixture(2)
    names, states = ["fever", "cough", "age", "sex"], {"sex": [f"s{v}" for v in range(model.n_outcomes_[3])]}
    network = model.to_pgmpy(names, "flu", "kind", states)
    again = ClassMixture.from_pgmpy(network, "flu", "kind", names)
    for name in ("classes_", "hidden_class_", "n_outcomes_"):
        assert_array_equal(getattr(again, name), getattr(model, name))
    for name in ("class_prior_", "weights_", "tables_"):
        assert_allclose(getattr(again, name), getattr(model, name), atol=1e-12)
    assert again.feature_names_ == names
    assert again.state_names_[3] == states["sex"]
    again = ClassMixture.from_pgmpy(network, "flu", "kind", names[::-1])
    assert_allclose(again.tables_, model.tables_[::-1], atol=1e-12)
    assert sorted(model.to_pgmpy(["a b", "a-b", "c", "d"], plain_names=True).nodes)[0] == "a_b"


def test_components_beside_the_class():
    """Features below class and component, as in a network that says so, classes in no order."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    rng = np.random.default_rng(3)
    network = DiscreteBayesianNetwork([("class", "x"), ("component", "x"), ("component", "y"), ("class", "z")])
    names = {"class": ["yes", "no"], "component": [0, 1], "x": [0, 1, 2], "y": [0, 1], "z": [0, 1]}
    tables = []
    for node, size in (("class", 2), ("component", 2), ("x", 3), ("y", 2), ("z", 2)):
        above = list(network.predecessors(node))
        values = rng.dirichlet(np.ones(size), 2 ** len(above)).T
        known = {n: names[n] for n in (node, *above)}
        tables.append(TabularCPD(node, size, values, above, [2] * len(above), state_names=known))
    network.add_cpds(*tables)
    model = ClassMixture.from_pgmpy(network, feature_names=["x", "y", "z"])
    assert model.classes_.tolist() == ["no", "yes"]
    check_inference(model, network, ["x", "y", "z"], [[0, 1, 2], [0, 1], [0, 1]], "class", 0)


def test_other_networks_are_refused():
    tree = TreeNetwork().fit([[0, 0], [1, 1], [0, 1], [1, 1]], [0, 0, 1, 1]).to_pgmpy(["component", "x"])
    with pytest.raises(ValueError, match="depends on"):
        ClassMixture.from_pgmpy(_chain())
    with pytest.raises(ValueError, match="is no node"):
        ClassMixture.from_pgmpy(tree, component_node="kind")
    network = random_mixture(4).to_pgmpy()
    with pytest.raises(ValueError, match="latent nodes 'component'"):
        TreeNetwork.from_pgmpy(network)


def _chain():
    model = TreeNetwork("line").fit([[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 1, 0]] * 3, [0, 0, 1, 1] * 3)
    return model.to_pgmpy(["x", "y", "component"])


@pytest.mark.parametrize(
    "change, message",
    [
        ({"classes": ["b", "a"]}, "classes must be sorted"),
        ({"hidden_class": [0, 0]}, "hidden_class must hold"),
        ({"weights": [0.5, 1]}, "weights must sum to 1"),
        ({"weights": [1, 1, 1]}, "weights must have shape"),
        ({"tables": [[[0.5, 0.2], [0.5, 0.7]]]}, "feature 0 must hold probabilities"),
        ({"tables": [[[0.5], [0.5]]]}, "2 columns"),
        ({"class_prior": [0.5, 0.6]}, "class_prior must sum to 1"),
        ({"feature_names": ["x", "y"]}, "feature_names must be 1"),
    ],
)
def test_from_tables_names_what_is_wrong(change, message):
    given = {"classes": ["a", "b"], "class_prior": [0.5, 0.5], "hidden_class": [0, 1], "weights": [1, 1]}
    given["tables"] = [[[0.5, 0.2], [0.5, 0.8]]]
    assert ClassMixture.from_tables(**given).tables([0]).shape == (1, 2, 2)
    with pytest.raises(ValueError, match=message):
        ClassMixture.from_tables(**{**given, **change})
