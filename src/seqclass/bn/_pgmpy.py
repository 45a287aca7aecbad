"""Networks from and to pgmpy, where they are exchanged, inspected and checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import FloatArray, IntArray


class Named(Protocol):
    """A fitted model whose features and outcomes may have names."""

    classes_: npt.NDArray[Any]
    class_prior_: FloatArray
    n_outcomes_: IntArray
    feature_names_: list[Any] | None
    state_names_: dict[int, list[Any]] | None


class Network(Named, Protocol):
    """What there is of a `TreeNetwork`."""

    parents_: list[IntArray]
    cpds_: list[Any]


class ModelWithStates(Named, Protocol):
    """What there is of a `ClassMixture` or `ContextBayes`."""

    hidden_class_: IntArray
    weights_: FloatArray
    tables_: FloatArray


def to_pgmpy(model: Network, names: list[Any], states: dict[Any, list[Any]]) -> Any:
    """Give a fitted network as a pgmpy ``DiscreteBayesianNetwork`` with its tables; see `names_and_states`."""
    from pgmpy.models import DiscreteBayesianNetwork

    *features, label = names
    network = DiscreteBayesianNetwork()
    network.add_nodes_from([label, *features])
    tables = [_cpd(label, model.class_prior_, [], states)]
    # edges and tables are checked against what is there already: from the top down that stays cheap
    for j in TopologicalSorter({j: [int(p) for p in above] for j, above in enumerate(model.parents_)}).static_order():
        table = model.cpds_[j]
        if table is None:
            raise ValueError(
                f"feature {j} has {len(model.parents_[j])} feature parents, too many for a table: "
                "pgmpy needs P(feature | all parents); fit a structure with fewer parents."
            )
        above = [*(names[int(p)] for p in model.parents_[j]), label]
        network.add_edges_from((node, names[j]) for node in above)
        tables.append(_cpd(names[j], table, above, states))
    network.add_cpds(*tables)
    return network


def names_and_states(
    model: Named,
    feature_names: Sequence[Hashable] | None,
    state_names: Mapping[Any, Sequence[Any]] | None,
    plain_names: bool,
    others: Sequence[Hashable],
    *further: list[Any],
) -> tuple[list[Any], dict[Any, list[Any]]]:
    """Nodes of the features, of the class and of others, and the states of each; those of others are given."""
    check_is_fitted(model)
    names = node_names(model, feature_names, *others)
    states = [*all_states(model, names[: len(names) - len(further)], state_names), *further]
    if plain_names:
        names, states = plain_identifiers(names, letter_first=True), [plain_identifiers(of_node) for of_node in states]
    return names, dict(zip(names, states))


def _cpd(node: Any, table: FloatArray, above: list[Any], states: dict[Any, list[Any]]) -> Any:
    """A table of pgmpy; its axes are the node's outcomes and those of the nodes above it."""
    from pgmpy.factors.discrete import TabularCPD

    parents = {"evidence": above, "evidence_card": list(table.shape[1:])} if above else {}
    own = {name: states[name] for name in (node, *above)}
    return TabularCPD(node, len(table), table.reshape(len(table), -1), state_names=own, **parents)


def network_of(network: Any, class_node: Hashable, feature_names: Sequence[Hashable] | None) -> dict[str, Any]:
    """What `TreeNetwork.from_cpds` makes a model of, from a pgmpy network."""
    tables = check_network(network, class_node)
    names = check_order([node for node in network.nodes if node != class_node], feature_names)
    number = {name: j for j, name in enumerate(names)}
    prior = tables[class_node]
    classes, by_label = sort_classes(prior.state_names[class_node], class_node)
    parents, cpds = [], []
    for name in names:
        above = [node for node in tables[name].variables[1:] if node != class_node]
        shape = *(len(tables[node].values) for node in above), len(classes)
        table = _expand_axes(tables[name], [*above, class_node], shape)
        parents.append(np.array([number[node] for node in above], dtype=np.intp))
        cpds.append(np.ascontiguousarray(table[..., by_label]))
    states = {j: list(tables[name].state_names[name]) for name, j in number.items()}
    weight = normalise_columns(np.asarray(prior.values, dtype=np.float64))[by_label]
    made = {"classes": classes, "class_prior": weight, "parents": parents, "cpds": cpds}
    return made | {"feature_names": names, "state_names": states}


def normalise_columns(table: FloatArray) -> FloatArray:
    """Make the sums over the first axis exact; pgmpy, and rounded files, are content with 1 +- 0.01."""
    return np.asarray(table / table.sum(axis=0))


def check_network(network: Any, class_node: Hashable, hidden: Hashable = None) -> dict[Hashable, Any]:
    """Table of every node of a network that we can take; ``hidden`` is the node that may be latent."""
    from pgmpy.models import DiscreteBayesianNetwork

    if not isinstance(network, DiscreteBayesianNetwork):
        raise TypeError(f"network must be a pgmpy DiscreteBayesianNetwork, got {type(network).__name__}.")
    if class_node not in network:
        raise ValueError(f"class_node {class_node!r} is no node of the network: {_join_reprs(network.nodes)}.")
    if len(network) < 2:
        raise ValueError(f"the network has no node but the class {class_node!r}: there is nothing to acquire.")
    above = list(network.predecessors(class_node))
    if above:
        raise ValueError(
            f"the class {class_node!r} has the parents {_join_reprs(above)}: only networks with the class on top are "
            "supported. Reverse these edges (a naive Bayes or tree network of the same data), or choose another class."
        )
    latents = [node for node in network.latents if node != hidden]
    if latents:
        raise ValueError(
            f"the network has the latent nodes {_join_reprs(latents)}, which are not supported: sum them out, or "
            "make them ordinary nodes that are never acquired."
        )
    tables = {table.variable: table for table in network.cpds}
    missing = [node for node in network.nodes if node not in tables]
    if missing:
        raise ValueError(f"the network has no table (CPD) for {_join_reprs(missing)}.")
    network.check_model()
    return tables


def check_order(nodes: list[Hashable], given: Sequence[Hashable] | None) -> list[Hashable]:
    if given is None:
        return nodes
    names = list(given)
    if len(names) != len(nodes) or set(names) != set(nodes):
        wrong = [name for name in names if name not in nodes] or [node for node in nodes if node not in names] or names
        raise ValueError(
            f"feature_names must hold every node but the class once, in the order of the columns; see "
            f"{_join_reprs(wrong)}."
        )
    return names


def sort_classes(states: Sequence[Any], class_node: Hashable) -> tuple[Any, Any]:
    """Labels in sorted order, as everywhere else, and where each is among the states."""
    if len({type(state) for state in states}) > 1:
        raise ValueError(f"the states of the class {class_node!r} must be of one type, got {list(states)}.")
    try:
        return np.unique(states, return_index=True)
    except TypeError as error:
        raise ValueError(f"the states of the class {class_node!r} cannot be sorted: {list(states)}.") from error


def node_names(model: Named, feature_names: Sequence[Hashable] | None, *others: Hashable) -> list[Any]:
    """Nodes of the features, and last those of the class and others."""
    n_features = len(model.n_outcomes_)
    if feature_names is None:
        feature_names = model.feature_names_
    names = [f"x{j}" for j in range(n_features)] if feature_names is None else list(feature_names)
    if len(names) != n_features:
        raise ValueError(f"feature_names must hold {n_features} names, one for each feature, got {len(names)}.")
    names = [*(_python(name) for name in names), *others]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ValueError(f"feature_names and class_name must differ from one another; see {_join_reprs(twice)}.")
    return names


def all_states(model: Named, names: list[Any], given: Mapping[Any, Sequence[Any]] | None) -> list[list[Any]]:
    """State names of the features, and last those of the class."""
    own = model.state_names_ or {}
    given = {} if given is None else dict(given)
    known, states = set(names), []
    for j, (name, n_outcomes) in enumerate(zip(names, model.n_outcomes_)):
        # a name that happens to be a number is a name
        key = name if name in given or j in known else j
        chosen = [_python(state) for state in given.pop(key, own.get(j, range(n_outcomes)))]
        if len(chosen) != n_outcomes or len(set(chosen)) != n_outcomes:
            raise ValueError(f"state_names of feature {name!r} must be {n_outcomes} different names, got {chosen}.")
        states.append(chosen)
    if given:
        raise ValueError(f"state_names has {_join_reprs(given)}, which are no features; the class has its labels.")
    return [*states, model.classes_.tolist()]


def plain_identifiers(names: Iterable[Any], letter_first: bool = False) -> list[str]:
    """Reduce names to letters, digits and underscores, and number those that would coincide."""
    identifiers: list[str] = []
    used: set[str] = set()
    for name in names:
        stem = re.sub(r"\W+", "_", str(name), flags=re.ASCII) or "_"
        if letter_first and not stem[0].isalpha():
            stem = "x" + stem
        unique, times = stem, 1
        while unique in used:
            times += 1
            unique = f"{stem}_{times}"
        used.add(unique)
        identifiers.append(unique)
    return identifiers


def _python(name: Any) -> Any:
    """A numpy scalar as what it holds; anything else as it is."""
    return name.item() if isinstance(name, np.generic) else name


def _join_reprs(names: Iterable[Any]) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "")


def mixture_to_pgmpy(model: ModelWithStates, names: list[Any], states: dict[Any, list[Any]]) -> Any:
    """Give a fitted mixture as a pgmpy ``DiscreteBayesianNetwork`` with its tables; see `names_and_states`."""
    from pgmpy.models import DiscreteBayesianNetwork

    *features, label, component = names
    edges = [(label, component), *((component, name) for name in features)]
    network = DiscreteBayesianNetwork(edges, latents={component})
    within = (np.arange(len(model.classes_)) == model.hidden_class_[:, None]) * model.weights_[:, None]
    tables = [table[:size] for table, size in zip(model.tables_, model.n_outcomes_.tolist())]
    network.add_cpds(
        _cpd(label, model.class_prior_, [], states),
        _cpd(component, within, [label], states),
        *(_cpd(name, table, [component], states) for name, table in zip(features, tables)),
    )
    return network


def mixture_of(
    network: Any, class_node: Hashable, component_node: Hashable, feature_names: Sequence[Hashable] | None
) -> dict[str, Any]:
    """What `Mixture.from_tables` makes a model of, from a pgmpy network."""
    tables = check_network(network, class_node, component_node)
    if component_node not in tables:
        raise ValueError(f"component_node {component_node!r} is no node of the network.")
    names = check_order([node for node in network.nodes if node not in (class_node, component_node)], feature_names)
    for name in (component_node, *names):
        allowed = {class_node} if name == component_node else {class_node, component_node}
        others = sorted(map(str, set(tables[name].variables[1:]) - allowed))
        if others:
            raise ValueError(f"{name!r} depends on {others}; only {sorted(map(str, allowed))} may be above it.")
    classes, by_label = sort_classes(tables[class_node].state_names[class_node], class_node)
    n_components, n_classes = int(tables[component_node].values.shape[0]), len(classes)
    shape = (n_components, n_classes)
    within = _expand_axes(tables[component_node], [class_node], shape[1:])[:, by_label]
    # class by class
    label, component = np.nonzero(within.T > 0)
    likelihoods = [
        _expand_axes(tables[name], [component_node, class_node], shape)[:, :, by_label][:, component, label]
        for name in names
    ]
    return {
        "classes": classes,
        "class_prior": normalise_columns(np.asarray(tables[class_node].values, dtype=np.float64))[by_label],
        "hidden_class": label,
        "weights": within[component, label],
        "tables": likelihoods,
        "feature_names": names,
        "state_names": {j: list(tables[name].state_names[name]) for j, name in enumerate(names)},
    }


def _expand_axes(table: Any, above: list[Hashable], shape: tuple[int, ...]) -> FloatArray:
    """A node's table with axes for all of some nodes, whether it depends on them or not."""
    values = normalise_columns(np.asarray(table.values, dtype=np.float64))
    names = list(table.variables[1:])
    values = values.transpose(0, *(1 + names.index(node) for node in above if node in names))
    place = (slice(None), *(slice(None) if node in names else None for node in above))
    return np.asarray(np.broadcast_to(values[place], (len(values), *shape)))
