"""Class mixtures from and to pgmpy: the class, a latent node of components below it, the features below that."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import FloatArray
from seqclass.bn._pgmpy import all_states, check_network, check_order, node_names, normalised, plain, sorted_classes

if TYPE_CHECKING:
    from seqclass.bn._mixture import Mixture

    Model = TypeVar("Model", bound=Mixture)


def to_pgmpy(
    model: Mixture,
    feature_names: Sequence[Hashable] | None = None,
    class_name: Hashable = "class",
    component_name: Hashable = "component",
    state_names: Mapping[Any, Sequence[Any]] | None = None,
    plain_names: bool = False,
) -> Any:
    """Give a fitted mixture as a pgmpy ``DiscreteBayesianNetwork`` with its tables; see `ClassMixture.to_pgmpy`.

    Parameters
    ----------
    model : ClassMixture or ContextBayes
        Fitted.
    feature_names, class_name, component_name, state_names, plain_names
        See `ClassMixture.to_pgmpy`.

    Returns
    -------
    pgmpy.models.DiscreteBayesianNetwork

    Raises
    ------
    ValueError
        If names are missing or twice the same.

    Examples
    --------
    >>> from seqclass.bn import ClassMixture
    >>> model = ClassMixture(2).fit([[0, 0], [1, 1], [0, 1], [1, 0]] * 4, [0, 0, 1, 1] * 4)
    >>> network = to_pgmpy(model, ["fever", "cough"], "flu")
    >>> sorted(network.edges), network.latents
    ([('component', 'cough'), ('component', 'fever'), ('flu', 'component')], {'component'})
    """
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    check_is_fitted(model)
    names = node_names(model, feature_names, class_name, component_name)
    states = [*all_states(model, names[:-1], state_names), list(range(len(model.weights_)))]
    if plain_names:
        names = plain(names, letter_first=True)
        states = [plain(of_node) for of_node in states]
    *features, label, component = names
    known = dict(zip(names, states))
    edges = [(label, component), *((component, name) for name in features)]
    network = DiscreteBayesianNetwork(edges, latents={component})
    within = (np.arange(len(model.classes_)) == model.hidden_class_[:, None]) * model.weights_[:, None]

    def table(name: Any, values: FloatArray, above: Any) -> Any:
        return TabularCPD(
            name,
            len(values),
            values,
            evidence=[above],
            evidence_card=[values.shape[1]],
            state_names={name: known[name], above: known[above]},
        )

    prior = model.class_prior_[:, None]
    network.add_cpds(
        TabularCPD(label, len(prior), prior, state_names={label: known[label]}),
        table(component, within, label),
        *(table(name, model.tables_[j, : model.n_outcomes_[j]], component) for j, name in enumerate(features)),
    )
    return network


def from_pgmpy(
    cls: type[Model],
    network: Any,
    class_node: Hashable = "class",
    component_node: Hashable = "component",
    feature_names: Sequence[Hashable] | None = None,
) -> Model:
    """Make a fitted mixture of a pgmpy network; see `ClassMixture.from_pgmpy`.

    Parameters
    ----------
    cls : type
        `ClassMixture` or `ContextBayes`.
    network, class_node, component_node, feature_names
        See `ClassMixture.from_pgmpy`.

    Returns
    -------
    ClassMixture or ContextBayes

    Raises
    ------
    TypeError
        If it is no discrete Bayesian network.
    ValueError
        If its tables are missing, or it is of another form.

    Examples
    --------
    >>> from seqclass.bn import ClassMixture
    >>> model = ClassMixture(2).fit([[0, 0], [1, 1], [0, 1], [1, 0]] * 4, [0, 0, 1, 1] * 4)
    >>> from_pgmpy(ClassMixture, to_pgmpy(model)).posterior([[1, 1]]).round(6) == model.posterior([[1, 1]]).round(6)
    array([[ True,  True]])
    """
    tables = check_network(network, class_node, component_node)
    if component_node not in tables:
        raise ValueError(f"component_node {component_node!r} is no node of the network.")
    names = check_order([node for node in network.nodes if node not in (class_node, component_node)], feature_names)
    for name in (component_node, *names):
        allowed = {class_node} if name == component_node else {class_node, component_node}
        others = sorted(map(str, set(tables[name].variables[1:]) - allowed))
        if others:
            raise ValueError(f"{name!r} depends on {others}; only {sorted(map(str, allowed))} may be above it.")
    classes, by_label = sorted_classes(tables[class_node].state_names[class_node], class_node)
    n_components, n_classes = int(tables[component_node].values.shape[0]), len(classes)
    shape = (n_components, n_classes)
    within = _by(tables[component_node], [class_node], shape[1:])[:, by_label]
    # class by class
    label, component = np.nonzero(within.T > 0)
    likelihoods = [
        _by(tables[name], [component_node, class_node], shape)[:, :, by_label][:, component, label] for name in names
    ]
    return cls.from_tables(
        classes,
        normalised(np.asarray(tables[class_node].values, dtype=np.float64))[by_label],
        label,
        within[component, label],
        likelihoods,
        feature_names=names,
        state_names={j: list(tables[name].state_names[name]) for j, name in enumerate(names)},
    )


def _by(table: Any, above: list[Hashable], shape: tuple[int, ...]) -> FloatArray:
    """A node's table with axes for all of some nodes, whether it depends on them or not."""
    values = normalised(np.asarray(table.values, dtype=np.float64))
    given = list(table.variables[1:])
    values = values.transpose(0, *(1 + given.index(node) for node in above if node in given))
    axes = tuple(slice(None) if node in given else None for node in above)
    place = (slice(None), *axes)
    return np.asarray(np.broadcast_to(values[place], (len(values), *shape)))
