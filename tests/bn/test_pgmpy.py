from __future__ import annotations

import itertools
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from network_cases import check_inference, random_evidence
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.metrics import mutual_info_score

from seqclass.bn import TreeNetwork


def random_model(seed, n_features=6, n_parents=1, n_classes=3, dense=0.8):
    """A model with random tables: a tree where ``dense`` is 1, a forest below, a richer graph with more parents."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, n_features)
    place = rng.permutation(n_features)
    parents = [np.empty(0, dtype=np.intp) for _ in range(n_features)]
    for at in range(1, n_features):
        if rng.random() < dense:
            parents[place[at]] = np.sort(rng.choice(place[:at], min(at, rng.integers(1, n_parents + 1)), replace=False))
    cpds = []
    for j, above in enumerate(parents):
        columns = rng.dirichlet(np.ones(sizes[j]), (*sizes[above], n_classes))
        cpds.append(np.moveaxis(columns, -1, 0).copy())
    classes = np.array(["a", "b", "c", "d"])[:n_classes]
    return TreeNetwork.from_cpds(classes, rng.dirichlet(np.ones(n_classes)), parents, cpds)


@pytest.mark.slow_cells("3-0.6", "0-1.0", "1-1.0", "2-0.6")
@pytest.mark.parametrize("seed, dense", [(0, 1.0), (1, 1.0), (2, 0.6), (3, 0.6), (4, 0.0)])
def test_inference_is_variable_elimination(seed, dense):
    model = random_model(seed, dense=dense)
    network = model.to_pgmpy()
    states = [list(range(V)) for V in model.n_outcomes_]
    check_inference(model, network, [f"x{j}" for j in range(6)], states, "class", seed)


def test_inference_where_features_have_several_parents():
    model = random_model(5, n_features=5, n_parents=2, n_classes=2)
    network = model.to_pgmpy()
    assert network.check_model()
    back = TreeNetwork.from_pgmpy(network)
    assert not back.is_forest_
    assert back.conditioning_ == "full"
    check_inference(back, network, [f"x{j}" for j in range(5)], [list(range(V)) for V in model.n_outcomes_], "class", 5)


def test_network_has_the_graph_and_the_tables():
    model = random_model(6)
    network = model.to_pgmpy()
    assert network.check_model()
    edges = {(f"x{p}", f"x{j}") for j, above in enumerate(model.parents_) for p in above}
    assert set(network.edges) == edges | {("class", f"x{j}") for j in range(6)}
    assert list(network.nodes)[1:] == [f"x{j}" for j in range(6)]
    assert_array_equal(network.get_cpds("class").values, model.class_prior_)
    assert network.get_cpds("class").state_names["class"] == ["a", "b", "c"]
    for j, above in enumerate(model.parents_):
        table = network.get_cpds(f"x{j}")
        assert table.variables == [f"x{j}", *(f"x{p}" for p in above), "class"]
        assert_array_equal(table.values, model.cpds_[j])


def test_names_of_nodes_and_states():
    model = random_model(7, n_features=3)
    names = np.array(["fever", "cough", "age"])
    outcomes = [f"< {v}" for v in range(model.n_outcomes_[1])]
    last = [f"age {v}" for v in range(model.n_outcomes_[2])]
    network = model.to_pgmpy(feature_names=names, class_name="flu", state_names={"cough": outcomes, 2: last})
    assert network.check_model()
    assert list(network.nodes) == ["flu", "fever", "cough", "age"]
    assert network.get_cpds("cough").state_names["cough"] == outcomes
    assert network.get_cpds("age").state_names["age"] == last
    assert network.get_cpds("fever").state_names["fever"] == list(range(model.n_outcomes_[0]))


def same(one, other, **kwargs):
    assert_allclose(other.class_prior_, one.class_prior_, **kwargs)
    assert_array_equal(other.n_outcomes_, one.n_outcomes_)
    for above, theirs in zip(one.parents_, other.parents_):
        assert_array_equal(theirs, above)
    for table, theirs in zip(one.cpds_, other.cpds_):
        assert_allclose(theirs, table, **kwargs)


@pytest.mark.parametrize("n_parents", [1, 2])
def test_there_and_back(n_parents):
    model = random_model(8, n_parents=n_parents)
    names = [f"node {j}" for j in range(6)]
    states = {j: [f"{j}/{v}" for v in range(V)] for j, V in enumerate(model.n_outcomes_)}
    network = model.to_pgmpy(names, "label", states)
    back = TreeNetwork.from_pgmpy(network, "label")
    same(model, back, rtol=1e-12)
    assert back.classes_.tolist() == ["a", "b", "c"]
    assert back.state_names_ == states
    # and its own names are the names of what it gives
    again = back.to_pgmpy(class_name="label")
    assert set(again.edges) == set(network.edges)
    assert again.get_cpds("node 2").state_names == network.get_cpds("node 2").state_names


def test_columns_in_another_order():
    model = random_model(9)
    turned = [f"x{j}" for j in (3, 1, 5, 0, 2, 4)]
    back = TreeNetwork.from_pgmpy(model.to_pgmpy(), feature_names=turned)
    evidence = random_evidence(model, 20, 9)
    assert_allclose(back.posterior(evidence[:, [3, 1, 5, 0, 2, 4]]), model.posterior(evidence), atol=1e-12)
    assert back.feature_names_ == turned


@pytest.mark.slow_cells("bif")
@pytest.mark.parametrize("kind", ["xmlbif", "bif"])
def test_through_a_file(kind, tmp_path):
    from pgmpy.models import DiscreteBayesianNetwork

    model = random_model(10, n_features=4)
    names = ["body temperature [C]", "body temperature (C)", "1st", "age"]
    states = {j: [f"< {v}" for v in range(V)] for j, V in enumerate(model.n_outcomes_)}
    network = model.to_pgmpy(names, "label", states, plain_names=True)
    plain = ["body_temperature_C_", "body_temperature_C__2", "x1st", "age"]
    assert list(network.nodes) == ["label", *plain]
    path = str(tmp_path / f"network.{kind}")
    network.save(path, filetype=kind)
    read = DiscreteBayesianNetwork.load(path, filetype=kind)
    back = TreeNetwork.from_pgmpy(read, "label", feature_names=plain)
    same(model, back, rtol=1e-9)
    assert back.classes_.tolist() == ["a", "b", "c"]
    assert back.state_names_[0] == [f"_{v}" for v in range(model.n_outcomes_[0])]


def weather():
    """Not a tree network as we would learn it: ``wind`` does not depend on the class, and ``rain`` is no feature's
    parent in our order of columns before it comes."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork([("wind", "cloud"), ("storm", "cloud"), ("storm", "noise"), ("cloud", "rain")])
    states = {
        "storm": ["yes", "no"],
        "cloud": ["thick", "thin", "none"],
        "wind": ["strong", "weak"],
        "noise": [True, False],
        "rain": ["wet", "dry"],
    }
    rng = np.random.default_rng(11)

    def table(node, *above):
        cards = [len(states[a]) for a in above]
        values = rng.dirichlet(np.ones(len(states[node])), int(np.prod(cards))).T
        named = {name: states[name] for name in (node, *above)}
        return TabularCPD(node, len(values), values, list(above) or None, cards or None, state_names=named)

    network.add_cpds(table("storm"), table("cloud", "storm", "wind"), table("wind"))
    network.add_cpds(table("noise", "storm"), table("rain", "cloud"))
    return network, states


def test_a_network_of_another_making():
    network, states = weather()
    names = ["rain", "noise", "cloud", "wind"]
    model = TreeNetwork.from_pgmpy(network, "storm", feature_names=names)
    assert model.classes_.tolist() == ["no", "yes"]
    assert [above.tolist() for above in model.parents_] == [[2], [], [3], []]
    assert_array_equal(model.cpds_[3][:, 0], model.cpds_[3][:, 1])
    assert model.state_names_ == {j: states[name] for j, name in enumerate(names)}
    check_inference(model, network, names, [states[name] for name in names], "storm", 11, n=12)


def test_what_is_not_supported_is_named():
    network, _ = weather()
    with pytest.raises(ValueError, match="the class 'cloud' has the parents 'wind', 'storm'"):
        TreeNetwork.from_pgmpy(network, "cloud")
    with pytest.raises(ValueError, match="class_node 'class' is no node of the network: 'wind', 'cloud'"):
        TreeNetwork.from_pgmpy(network)
    with pytest.raises(ValueError, match=r"feature_names must hold every node but the class once.*'snow'"):
        TreeNetwork.from_pgmpy(network, "storm", feature_names=["rain", "noise", "cloud", "snow"])
    with pytest.raises(ValueError, match=r"feature_names must hold every node.*'wind'"):
        TreeNetwork.from_pgmpy(network, "storm", feature_names=["rain", "noise", "cloud"])
    network.latents = {"wind"}
    with pytest.raises(ValueError, match="latent nodes 'wind'"):
        TreeNetwork.from_pgmpy(network, "storm")
    network.latents = set()
    network.remove_cpds("rain")
    with pytest.raises(ValueError, match=r"no table \(CPD\) for 'rain'"):
        TreeNetwork.from_pgmpy(network, "storm")
    with pytest.raises(TypeError, match="must be a pgmpy DiscreteBayesianNetwork, got DiGraph"):
        TreeNetwork.from_pgmpy(nx.DiGraph([("storm", "rain")]), "storm")


def test_classes_of_mixed_types_and_lonely_classes_are_refused():
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork()
    network.add_node("class")
    network.add_cpds(TabularCPD("class", 2, [[0.5], [0.5]], state_names={"class": ["a", 1]}))
    with pytest.raises(ValueError, match="no node but the class"):
        TreeNetwork.from_pgmpy(network)
    network.add_node("x")
    network.add_cpds(TabularCPD("x", 2, [[0.5], [0.5]], state_names={"x": [0, 1]}))
    with pytest.raises(ValueError, match="must be of one type"):
        TreeNetwork.from_pgmpy(network)


def test_names_are_checked():
    model = random_model(12, n_features=3)
    with pytest.raises(ValueError, match="feature_names must hold 3 names"):
        model.to_pgmpy(["a", "b"])
    with pytest.raises(ValueError, match="differ from one another; see 'a'"):
        model.to_pgmpy(["a", "b", "a"])
    with pytest.raises(ValueError, match="differ from one another; see 'b'"):
        model.to_pgmpy(["a", "b", "c"], class_name="b")
    with pytest.raises(ValueError, match="state_names of feature 'x1' must be"):
        model.to_pgmpy(state_names={1: ["one"]})
    with pytest.raises(ValueError, match="state_names has 'x7', which are no features"):
        model.to_pgmpy(state_names={"x7": ["one"]})


def learnable(seed, n=300, n_features=7):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.integers(0, 3, (n, n_features))
    for j in range(1, n_features):
        X[:, j] = np.where(rng.random(n) < 0.5, X[:, rng.integers(0, j)], X[:, j])
    X[:, 2] = np.where(rng.random(n) < 0.3, y, X[:, 2])
    return X, y


def as_frame(X, y):
    return pd.DataFrame({f"x{j}": x for j, x in enumerate(X.T)}).assign(**{"class": y})


def test_parameters_are_those_of_pgmpys_k2_prior():
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator

    X, y = learnable(13)
    model = TreeNetwork().fit(X, y, n_outcomes=4)  # an outcome that was never seen
    ours = model.to_pgmpy()
    theirs = type(ours)(ours.edges)
    states = {f"x{j}": [0, 1, 2, 3] for j in range(7)} | {"class": [0, 1, 2]}
    theirs.fit(as_frame(X, y), estimator=DiscreteBayesianEstimator(state_names=states, prior_type="K2"))
    for node in [f"x{j}" for j in range(7)]:
        table, expected = ours.get_cpds(node), theirs.get_cpds(node)
        axes = [expected.variables.index(name) for name in table.variables]
        assert_allclose(table.values, expected.values.transpose(axes), atol=1e-12)


@pytest.mark.slow_cells("1")
@pytest.mark.parametrize("seed", range(2))
def test_tree_is_scipys_and_pgmpys(seed):
    X, y = learnable(20 + seed)
    ours = {frozenset((int(p), j)) for j, above in enumerate(TreeNetwork().fit(X, y).parents_) for p in above}
    weights = np.zeros((7, 7))
    for i, j in itertools.combinations(range(7), 2):
        weights[i, j] = sum((y == c).mean() * mutual_info_score(X[y == c, i], X[y == c, j]) for c in np.unique(y))
    tree = minimum_spanning_tree(np.triu(-weights - 1e-9, 1))
    assert ours == {frozenset(map(int, edge)) for edge in zip(*tree.nonzero())}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.estimators import TreeSearch

        search = TreeSearch(as_frame(X, y), root_node="x0", n_jobs=1)
        dag = search.estimate(estimator_type="tan", class_node="class", show_progress=False)
    assert ours == {frozenset(int(n[1:]) for n in edge) for edge in dag.edges if "class" not in edge}


@pytest.mark.slow
def test_thousands_of_features_go_through():
    model = random_model(30, n_features=1000, n_classes=2, dense=1.0)
    network = model.to_pgmpy()
    assert len(network.nodes) == 1001
    same(model, TreeNetwork.from_pgmpy(network), rtol=1e-12)
