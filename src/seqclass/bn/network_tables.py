"""A discrete Bayesian network as plain data: nodes, states, parents and tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray, as_generator
from seqclass._messages import listed, near, shown

__all__ = ["NetworkTables"]

#: Columns of a table may miss 1 by so much, as rounded files do; they are made exact.
_SLACK = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class NetworkTables:
    """A discrete Bayesian network: any directed acyclic graph, with a table for every node.

    Attributes
    ----------
    names : list of str
        The nodes.
    states : list of list of str
        States of each node.
    parents : list of list of int
        Parents of each node, as positions in ``names``.
    tables : list of ndarray of shape (n_states, n_states_of_first_parent, ...)
        P(state | states of the parents).

    Raises
    ------
    ValueError
        If parts do not fit together, the graph has a circle, or a table holds no probabilities; the message names the
        node.

    Examples
    --------
    >>> flu = NetworkTables(
    ...     ["flu", "fever"], [["no", "yes"]] * 2, [[], [0]], [np.array([0.9, 0.1]), np.array([[0.8, 0.3], [0.2, 0.7]])]
    ... )
    >>> flu, flu.order()
    (NetworkTables(2 nodes, 1 edge), [0, 1])
    """

    names: list[str]
    states: list[list[str]]
    parents: list[list[int]]
    tables: list[FloatArray]

    def __post_init__(self) -> None:
        n = len(self.names)
        _check(n > 0, "the network has no node.")
        _check(len(set(self.names)) == n, f"the network has two nodes of one name: {listed(sorted(self.names))}.")
        _check(n == len(self.states) == len(self.parents) == len(self.tables), "every node needs states and a table.")
        for name, states in zip(self.names, self.states):
            good = len(states) > 0 and len(set(states)) == len(states) and all(isinstance(s, str) for s in states)
            _check(good, f"node {shown(name)} must have states of different names, got {listed(states)}.")
        tables = [self._checked(j) for j in range(n)]
        object.__setattr__(self, "tables", tables)
        try:
            self.order()
        except CycleError as error:
            circle = listed([self.names[j] for j in error.args[1]])
            raise ValueError(f"the network goes in a circle: {circle}.") from error

    def _checked(self, j: int) -> FloatArray:
        name, above = self.names[j], self.parents[j]
        known = all(isinstance(i, int) and 0 <= i < len(self.names) for i in above)
        _check(known and len(set(above)) == len(above) and j not in above, f"node {shown(name)} has wrong parents.")
        table = np.asarray(self.tables[j], dtype=np.float64)
        shape = tuple(len(self.states[i]) for i in (j, *above))
        _check(table.shape == shape, f"the table of node {shown(name)} must be of shape {shape}, got {table.shape}.")
        good = bool(np.isfinite(table).all() and (table >= 0).all())
        _check(good, f"the table of node {shown(name)} must hold probabilities, finite and not negative.")
        total = table.sum(axis=0)
        _check(
            bool((np.abs(total - 1) <= _SLACK).all()),
            f"the table of node {shown(name)} must sum to 1 over its states, whatever its parents show; it has "
            f"{float(np.ravel(total)[np.abs(np.ravel(total) - 1).argmax()]):.4g}.",
        )
        return np.asarray(table / total)

    def __repr__(self) -> str:
        n_edges = sum(map(len, self.parents))
        return f"NetworkTables({len(self.names)} nodes, {n_edges} edge{'' if n_edges == 1 else 's'})"

    @property
    def sizes(self) -> list[int]:
        """Number of states of each node."""
        return [len(states) for states in self.states]

    def order(self) -> list[int]:
        """Return the nodes in an order in which parents come before their children."""
        return list(TopologicalSorter(dict(enumerate(self.parents))).static_order())

    def number(self, name: str, what: str = "node") -> int:
        """Position of a node; ``what`` begins the message where there is none.

        Raises
        ------
        ValueError
            If there is no such node; the message lists the nearest.
        """
        if name in self.names:
            return self.names.index(name)
        raise ValueError(f"{what}: the network has no node {shown(name)}; {near(str(name), self.names, 'it has')}")

    def ancestors(self, nodes: Sequence[int]) -> list[int]:
        """Nodes and all above them, in increasing order; the others say nothing about these."""
        found: set[int] = set()
        left = list(nodes)
        while left:
            j = left.pop()
            if j not in found:
                found.add(j)
                left += self.parents[j]
        return sorted(found)

    def sample(self, n: int, random_state: Any = None) -> IntArray:
        """Draw states of all nodes, (n, n_nodes)."""
        rng, drawn = as_generator(random_state), np.zeros((n, len(self.names)), dtype=np.intp)
        for j in self.order():
            given: Any = (slice(None), *(drawn[:, i] for i in self.parents[j]))
            table = self.tables[j][given]
            table = np.broadcast_to(table.reshape(len(table), -1), (len(table), n))
            below = table.cumsum(axis=0) <= rng.random(n)
            drawn[:, j] = np.minimum(below.sum(axis=0), len(table) - 1)
        return drawn

    @classmethod
    def from_pgmpy(cls, network: Any) -> NetworkTables:
        """Take over a pgmpy network.

        Parameters
        ----------
        network : pgmpy.models.DiscreteBayesianNetwork
            With a table for every node.

        Returns
        -------
        NetworkTables
            Names of nodes and states are texts.

        Raises
        ------
        TypeError
            If it is no discrete Bayesian network.
        ValueError
            If a table is missing or wrong.
        """
        from pgmpy.models import DiscreteBayesianNetwork

        if not isinstance(network, DiscreteBayesianNetwork):
            raise TypeError(
                "network must be a pgmpy DiscreteBayesianNetwork, a NetworkTables or the path of a file, got "
                f"{type(network).__name__}."
            )
        nodes: list[Hashable] = list(network.nodes)
        cpds = {table.variable: table for table in network.cpds}
        missing = [str(node) for node in nodes if node not in cpds]
        _check(not missing, f"the network has no table (CPD) for {listed(missing)}.")
        number = {node: j for j, node in enumerate(nodes)}
        tables, parents, states = [], [], []
        for node in nodes:
            above = list(cpds[node].variables[1:])
            _check(set(above) <= set(nodes), f"the table of node {shown(str(node))} names a node that is not there.")
            # each table has an order of the parents' states of its own
            places = [_places(cpds[node].state_names[i], cpds[i].state_names[i], node) for i in above]
            values = np.asarray(cpds[node].values, dtype=np.float64)
            for axis, place in enumerate(places, 1):
                values = values.take(place, axis=axis)
            tables.append(values)
            parents.append([number[i] for i in above])
            states.append([str(state) for state in cpds[node].state_names[node]])
        return cls([str(node) for node in nodes], states, parents, tables)


def _places(own: Sequence[Any], wanted: Sequence[Any], node: Hashable) -> list[int]:
    """Where the states of a parent stand in a child's table."""
    _check(
        sorted(map(str, own)) == sorted(map(str, wanted)), f"node {shown(str(node))} knows other states of a parent."
    )
    texts = [str(state) for state in own]
    return [texts.index(str(state)) for state in wanted]


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
