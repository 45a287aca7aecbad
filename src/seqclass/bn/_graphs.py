"""Graphs given by users, as plain data for model files."""

from __future__ import annotations

from typing import Any


def pack_graph(structure: Any) -> Any:
    """Turn a networkx graph into plain data; leave a name as it is.

    Examples
    --------
    >>> import networkx as nx
    >>> pack_graph(nx.Graph([(0, 1)]))
    {'directed': False, 'nodes': [0, 1], 'edges': [(0, 1)]}
    """
    if not hasattr(structure, "is_directed"):
        return structure
    return {
        "directed": bool(structure.is_directed()),
        "nodes": [_plain(node) for node in structure.nodes],
        "edges": [(_plain(edge[0]), _plain(edge[1])) for edge in structure.edges],
    }


def unpack_graph(structure: Any) -> Any:
    """Undo `pack_graph`.

    Examples
    --------
    >>> sorted(unpack_graph({"directed": True, "nodes": [0, 1], "edges": [(1, 0)]}).edges)
    [(1, 0)]
    """
    if not isinstance(structure, dict):
        return structure
    import networkx as nx

    graph = nx.DiGraph() if structure["directed"] else nx.Graph()
    graph.add_nodes_from(structure["nodes"])
    graph.add_edges_from(tuple(edge) for edge in structure["edges"])
    return graph


def _plain(node: Any) -> Any:
    return node if isinstance(node, str) else int(node)
