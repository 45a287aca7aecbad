"""A discrete Bayesian network as plain data: nodes, states, parents and tables."""

from __future__ import annotations

import gzip
import math
import os
import re
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass._utils.model_files import register
from seqclass._utils.text import listed, near, sentence, shown
from seqclass.bn._structure import ancestors

__all__ = ["NetworkTables"]


#: Columns of a table may miss 1 by so much, as rounded files do; they are made exact.
_SLACK = 0.01


@register
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
        return ancestors(nodes, self.parents)

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


#: Characters of a file, unpacked.
MAX_SIZE = 2**27
#: States of a node of a file without names, and entries of a table that a file may describe.
MAX_STATES, MAX_TABLE = 10_000, 2**22

#: What reading a file that is damaged may raise.
_UNSOUND = (ValueError, KeyError, IndexError, TypeError, OSError, EOFError, zlib.error, ElementTree.ParseError)

#: What a file says of a node: its states, its parents, and its table as (n_states, states of the parents, ...).
_Node = tuple[list[str], list[str], FloatArray]


def read_network(path: str | os.PathLike[str]) -> NetworkTables:
    """Read a network by the ending of its file; see `DiscreteNetwork.from_file`."""
    path = Path(path)
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in READERS:
        raise ValueError(f"{path}: a network is a file that ends in {', '.join(READERS)}, each also with .gz.")
    try:
        text = _text(path)
        return _assembled(READERS[ending](text))
    except FileNotFoundError:
        raise
    except _UNSOUND as error:
        kind = ending.removeprefix(".").upper()
        raise ValueError(f"{path} is no sound {kind} file of a discrete network: {sentence(error)}") from error


def _text(path: Path) -> str:
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        file: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        content = file.read(MAX_SIZE + 1)
    if len(content) > MAX_SIZE:
        raise ValueError(f"it holds more than {MAX_SIZE // 2**20} MB.")
    head = content[:200].lower()
    if b"encoding" in head and b"utf-8" not in head:
        return str(content.decode("latin-1"))
    return str(content.decode("utf-8-sig"))


def _assembled(nodes: dict[str, _Node]) -> NetworkTables:
    number = {name: j for j, name in enumerate(nodes)}
    for name, (_, parents, _table) in nodes.items():
        for above in parents:
            if above not in number:
                raise ValueError(f"node {shown(name)} has the parent {shown(above)}, which is no node.")
    states, above_, tables = (list(column) for column in zip(*nodes.values())) if nodes else ([], [], [])
    return NetworkTables(list(nodes), states, [[number[above] for above in some] for some in above_], tables)


def _numbers(words: Sequence[str], name: str, shape: Sequence[int]) -> FloatArray:
    if math.prod(shape) > MAX_TABLE:
        raise ValueError(
            f"the table of node {shown(name)} has {math.prod(shape):,} entries; {MAX_TABLE:,} are the most."
        )
    try:
        values = np.array([float(word) for word in words])
    except ValueError as error:
        raise ValueError(
            f"the table of node {shown(name)} holds something that is not a number: {sentence(error)}"
        ) from None
    if values.size != math.prod(shape):
        raise ValueError(f"the table of node {shown(name)} has {values.size} numbers, not {math.prod(shape)}.")
    return values.reshape(shape)


# BIF ------------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"]*"|[{}()\[\];|,]|[^\s{}()\[\];|,"]+', re.DOTALL)


def _bif(text: str) -> dict[str, _Node]:
    tokens = [token for token in _TOKEN.findall(text) if not token.startswith(("//", "/*"))]
    states: dict[str, list[str]] = {}
    given: dict[str, tuple[list[str], list[str]]] = {}
    at = 0
    while at < len(tokens):
        start = tokens.index("{", at)
        end = _closing(tokens, start)
        head, body = [_bare(token) for token in tokens[at:start]], tokens[start + 1 : end]
        if head[:1] == ["variable"] and len(head) == 2:
            states[head[1]] = _bif_states(head[1], body)
        elif head[:1] == ["probability"]:
            scope = [token for token in head[1:] if token not in ("(", ")", "|", ",")]
            if not scope or scope[0] in given:
                raise ValueError(f"there are two tables, or a table of no node: {' '.join(head[:6])}.")
            given[scope[0]] = (scope[1:], body)
        elif head[:1] != ["network"]:
            raise ValueError(f"network, variable or probability must stand before {{, not {shown(' '.join(head[:3]))}.")
        at = end + 1
    return {name: (own, *_bif_table(name, states, given)) for name, own in states.items()}


def _closing(tokens: list[str], start: int) -> int:
    """Where the brace that opens at ``start`` is closed."""
    depth = 0
    for at in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[at], 0)
        if not depth:
            return at
    raise ValueError("a brace is not closed.")


def _bare(token: str) -> str:
    return token[1:-1] if token.startswith('"') else token


def _bif_states(name: str, body: list[str]) -> list[str]:
    at = body.index("discrete") + 4  # type discrete [ n ] {
    wanted = int(body[at - 2]) if body[at - 2].isdecimal() else -1
    own = _named(body[at + 1 : body.index("}", at)], wanted)
    if not body[at - 2].isdecimal() or len(own) != int(body[at - 2]):
        raise ValueError(f"variable {shown(name)} must list {body[at - 2]} states, it lists {listed(own)}.")
    return own


def _named(tokens: list[str], wanted: int) -> list[str]:
    """Names of states, with commas between or without; of several words each, as pgmpy writes them, with commas."""
    words = [_bare(token) for token in tokens if token not in (",", ";")]
    if len(words) == wanted:
        return words
    parts = " ".join("\n" if token in (",", ";") else _bare(token) for token in tokens).split("\n")
    several = [part.strip() for part in parts if part.strip()]
    return several if len(several) == wanted else words


def _bif_table(name: str, states: dict[str, list[str]], given: dict[str, Any]) -> tuple[list[str], FloatArray]:
    if name not in given:
        raise ValueError(f"variable {shown(name)} has no table.")
    parents, body = given[name]
    for above in parents:
        if above not in states:
            raise ValueError(f"the table of {shown(name)} names {shown(above)}, which is no variable.")
    shape = [len(states[node]) for node in (name, *parents)]
    if math.prod(shape) > MAX_TABLE:
        raise ValueError(
            f"the table of node {shown(name)} has {math.prod(shape):,} entries; {MAX_TABLE:,} are the most."
        )
    table = np.full(shape, np.nan)
    for entry in _entries(body):
        values = [token for token in entry if token not in (",", "(", ")")]
        if entry[0] == "table":
            table[...] = _numbers(values[1:], name, shape)
        elif entry[0] == "default":
            own = _numbers(values[1:], name, shape[:1]).reshape(-1, *[1] * len(parents))
            table = np.where(np.isnan(table), own, table)
        elif entry[0] == "(":
            end = entry.index(")")
            known = _named(entry[1:end], len(parents))
            place: Any = (slice(None), *(states[above].index(state) for above, state in zip(parents, known)))
            table[place] = _numbers([token for token in entry[end + 1 :] if token != ","], name, shape[:1])
        elif entry[0] != "property":
            raise ValueError(f"the table of {shown(name)} holds {shown(' '.join(entry[:4]))}.")
    if np.isnan(table).any():
        raise ValueError(f"the table of {shown(name)} leaves states of the parents out.")
    return parents, table


def _entries(body: list[str]) -> Iterator[list[str]]:
    """Parts of a table, without the semicolons between."""
    entry: list[str] = []
    for token in body:
        if token != ";":
            entry.append(token)
        elif entry:
            yield entry
            entry = []
    if entry:
        raise ValueError(f"a semicolon is missing after {shown(' '.join(entry[:4]))}.")


# XML ------------------------------------------------------------------------------------------------------------------


def _xml(text: str) -> Any:
    if "<!ENTITY" in text:  # which may unfold without end
        raise ValueError("it declares entities, which no network needs.")
    return ElementTree.fromstring(
        text.encode() if "encoding=" not in text[:200] else re.sub(r"<\?.*?\?>", "", text, count=1)
    )


def _words(element: Any, tag: str) -> list[str]:
    found = element.find(tag)
    return [] if found is None or found.text is None else str(found.text).split()


def _xmlbif(text: str) -> dict[str, _Node]:
    root = _xml(text)
    network = root if root.tag == "NETWORK" else root.find("NETWORK")
    if network is None:
        raise ValueError("it has no element NETWORK.")
    states = {
        _said(variable, "NAME"): [str(outcome.text).strip() for outcome in variable.findall("OUTCOME")]
        for variable in network.findall("VARIABLE")
    }
    nodes: dict[str, _Node] = {}
    for definition in network.findall("DEFINITION"):
        name = _said(definition, "FOR")
        parents = [str(given.text).strip() for given in definition.findall("GIVEN")]
        for node in (name, *parents):
            if node not in states:
                raise ValueError(f"a definition names {shown(node)}, which is no variable.")
        nodes[name] = states[name], parents, _child_last(_words(definition, "TABLE"), name, parents, states)
    missing = [name for name in states if name not in nodes]
    if missing:
        raise ValueError(f"variable {shown(missing[0])} has no definition.")
    return nodes


def _said(element: Any, tag: str) -> str:
    found = element.find(tag)
    if found is None or not (found.text or "").strip():
        raise ValueError(f"a {element.tag} has no {tag}.")
    return str(found.text).strip()


def _child_last(words: list[str], name: str, parents: list[str], states: dict[str, list[str]]) -> FloatArray:
    """A table in which the node's own states change fastest, then those of its last parent."""
    shape = [len(states[node]) for node in (*parents, name)]
    return np.moveaxis(_numbers(words, name, shape), -1, 0)


def _xdsl(text: str) -> dict[str, _Node]:
    root = _xml(text)
    holder = root.find("nodes")
    if holder is None:
        raise ValueError("it has no element nodes.")
    states: dict[str, list[str]] = {}
    nodes: dict[str, _Node] = {}
    for node in holder:
        name = node.get("id") or ""
        if node.tag not in ("cpt", "deterministic"):
            raise ValueError(f"node {shown(name)} is of the kind {shown(node.tag)}; turn it into a cpt in GeNIe first.")
        states[name] = [str(state.get("id")) for state in node.findall("state")]
    for node in holder:  # in GeNIe's files parents stand first, in pgmpy's anywhere
        name, parents = node.get("id") or "", _words(node, "parents")
        for above in parents:
            if above not in states:
                raise ValueError(f"node {shown(name)} has the parent {shown(above)}, which is no node.")
        if node.tag == "cpt":
            table = _child_last(_words(node, "probabilities"), name, parents, states)
        else:
            shape = [len(states[above]) for above in parents]
            sure = [states[name].index(state) for state in _words(node, "resultingstates")]
            if len(sure) != math.prod(shape):
                raise ValueError(f"node {shown(name)} must have {math.prod(shape)} resulting states, not {len(sure)}.")
            table = np.moveaxis(np.eye(len(states[name]))[np.array(sure).reshape(shape)], -1, 0)
        nodes[name] = states[name], parents, table
    return nodes


# UAI ------------------------------------------------------------------------------------------------------------------


def _uai(text: str) -> dict[str, _Node]:
    words = iter(re.sub(r"#[^\n]*", "", text).split())

    def whole(most: float = MAX_TABLE) -> int:
        word = next(words, "")
        if not word.isdecimal() or int(word[:12]) > most:
            raise ValueError(f"a whole number is expected where {shown(word) if word else 'the file ends'}.")
        return int(word)

    kind = next(words, "")
    if kind != "BAYES":
        raise ValueError(f"it must begin with BAYES, a network of tables, not {shown(kind)}.")
    names = [f"x{j}" for j in range(whole())]
    states = {name: [str(v) for v in range(whole(MAX_STATES))] for name in names}
    scopes = [[whole(len(names) - 1) for _ in range(whole(len(names)))] for _ in range(whole(len(names)))]
    nodes: dict[str, _Node] = {}
    for scope in scopes:
        if not scope or names[scope[-1]] in nodes:
            raise ValueError("each node must have one table, of which it is the last variable.")
        *parents, name = (names[j] for j in scope)
        values = [next(words, "") for _ in range(whole())]
        nodes[name] = states[name], parents, _child_last(values, name, parents, states)
    missing = [name for name in names if name not in nodes]
    if missing or next(words, None) is not None:
        raise ValueError(f"node {shown(missing[0])} has no table." if missing else "something follows the last table.")
    return {name: nodes[name] for name in names}


#: By ending.
READERS: dict[str, Callable[[str], dict[str, _Node]]] = {
    ".bif": _bif,
    ".xmlbif": _xmlbif,
    ".xml": _xmlbif,
    ".xdsl": _xdsl,
    ".uai": _uai,
}
