"""Networks asked about random evidence, beside pgmpy's variable elimination."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from seqclass.bn import NetworkTables


def elimination(network):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.inference import VariableElimination

        engine = VariableElimination(network)

    def ask(node, evidence):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return engine.query([node], evidence=evidence, show_progress=False).values

    return ask


def random_evidence(model, n, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, model.n_features_in_)) * model.n_outcomes_).astype(np.int8)
    return np.where(rng.random(X.shape) < rng.random((n, 1)), X, -1).astype(np.int8)


def check_inference(model, network, names, states, class_node, seed, n=6):
    """Every posterior and likelihood of some evidence, beside VariableElimination's."""
    ask = elimination(network)
    evidence = random_evidence(model, n, seed)
    at = [network.get_cpds(class_node).state_names[class_node].index(label) for label in model.classes_.tolist()]
    likelihoods = [model.likelihood(j, evidence) for j in range(len(names))]
    posterior = model.posterior(evidence)
    for i, row in enumerate(evidence):
        known = {names[j]: states[j][row[j]] for j in np.flatnonzero(row >= 0)}
        assert_allclose(posterior[i], ask(class_node, known)[at], atol=1e-10)
        for j, name in enumerate(names):
            others = {k: v for k, v in known.items() if k != name}
            for c, label in enumerate(model.classes_.tolist()):
                expected = ask(name, {**others, class_node: label})
                assert_allclose(likelihoods[j][i, :, c], expected, atol=1e-10)


def check_cliques(model, features, n=20):
    """The product of the tables of all cliques, summed out, has the model's likelihoods of random evidence."""
    cliques = model.cliques(features)
    n_classes, sizes = len(model.classes_), {}
    for variables, _, table in cliques:
        sizes |= dict(zip(variables, table.shape[1:]))
    joint = np.ones((n_classes, *(sizes[j] for j in range(len(sizes)))))
    for number, (variables, parent, table) in enumerate(cliques):
        order = np.argsort(variables)
        shape = [sizes[j] if j in variables else 1 for j in range(len(sizes))]
        joint = joint * table.transpose(0, *(1 + order)).reshape(len(table), *shape)
        later = {j for some, _, _ in cliques[number + 1 :] for j in some}
        assert parent == -1 or parent > number
        assert set(variables) & later == (set(variables) & set(cliques[parent][0]) if parent >= 0 else set())
    rng, own = np.random.default_rng(0), np.asarray(features)
    for _ in range(n):
        row = (rng.random(model.n_features_in_) * model.n_outcomes_).astype(np.int8)
        seen = rng.random(len(own)) < 0.5
        asked = int(rng.integers(len(own)))
        seen[asked] = False
        evidence = np.full((1, model.n_features_in_), -1, dtype=np.int8)
        evidence[0, own[seen]] = row[own[seen]]
        told = joint[(slice(None), *(int(row[own[k]]) if k < len(own) and seen[k] else slice(None)
                                     for k in range(len(sizes))))]  # fmt: skip
        left = [k for k in range(len(sizes)) if k >= len(own) or not seen[k]]
        found = told.sum(axis=tuple(1 + left.index(k) for k in left if k != asked))
        possible = found.sum(axis=1) > 0
        expected = model.likelihood(int(own[asked]), evidence)[0].T
        assert_allclose((found / found.sum(axis=1, keepdims=True))[possible], expected[possible], atol=1e-12)


def random_network(seed: int, n_nodes: int = 6, most_parents: int = 3, zeros: float = 0.0) -> NetworkTables:
    """A random graph with states out of sorted order, and tables with some zeros."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, n_nodes)
    sizes[0] = 2
    place = rng.permutation(n_nodes)  # parents stand anywhere
    parents: list[list[int]] = [[] for _ in range(n_nodes)]
    tables: list[Any] = [None] * n_nodes
    for rank, j in enumerate(place.tolist()):
        above = place[:rank]
        parents[j] = rng.permutation(above)[: rng.integers(0, most_parents + 1)].tolist()
        table = rng.dirichlet(np.ones(sizes[j]), tuple(sizes[parents[j]]))
        table = np.where(rng.random(table.shape) < zeros, 0.0, table) + 1e-3 * np.eye(sizes[j])[0]
        tables[j] = np.moveaxis(table / table.sum(axis=-1, keepdims=True), -1, 0)
    states = [[f"s{v}" for v in rng.permutation(size)] for size in sizes.tolist()]
    return NetworkTables([f"n{j}" for j in range(n_nodes)], states, parents, tables)


def as_pgmpy(network: NetworkTables) -> Any:
    """The same network in pgmpy."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    theirs = DiscreteBayesianNetwork()
    theirs.add_nodes_from(network.names)
    names = network.names
    theirs.add_edges_from((names[i], names[j]) for j, above in enumerate(network.parents) for i in above)
    for j, above in enumerate(network.parents):
        table = network.tables[j]
        theirs.add_cpds(
            TabularCPD(
                names[j],
                len(table),
                table.reshape(len(table), -1),
                [names[i] for i in above] or None,
                list(table.shape[1:]) or None,
                state_names={names[i]: network.states[i] for i in (j, *above)},
            )
        )
    return theirs
