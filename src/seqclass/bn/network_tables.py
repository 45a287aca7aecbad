"""A discrete Bayesian network as plain data: nodes, states, parents and tables."""

from __future__ import annotations

import codecs
import functools
import gzip
import itertools
import math
import operator
import os
import re
import sys
import zlib
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass._utils.files import check_regular
from seqclass._utils.model_files import register
from seqclass._utils.stored import check_array
from seqclass._utils.tables import Readable, count_text
from seqclass._utils.text import join_names, near, sentence, short_repr
from seqclass.bn._structure import ancestors


@register
@dataclass(frozen=True, eq=False, repr=False)
class NetworkTables(Readable):
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
        _check(len(set(self.names)) == n, f"the network has two nodes of one name: {join_names(sorted(self.names))}.")
        _check(n == len(self.states) == len(self.parents) == len(self.tables), "every node needs states and a table.")
        for name, states in zip(self.names, self.states):
            good = len(states) > 0 and len(set(states)) == len(states) and all(isinstance(s, str) for s in states)
            _check(good, f"node {short_repr(name)} must have states of different names, got {join_names(states)}.")
        tables = [self._check_table(j) for j in range(n)]
        object.__setattr__(self, "tables", tables)
        try:
            self.order()
        except CycleError as error:
            circle = join_names([self.names[j] for j in error.args[1]])
            raise ValueError(f"the network goes in a circle: {circle}.") from error

    def _check_table(self, j: int) -> FloatArray:
        name, above = short_repr(self.names[j]), self.parents[j]
        known = all(isinstance(i, int) and 0 <= i < len(self.names) for i in above)
        _check(known and len(set(above)) == len(above) and j not in above, f"node {name} has wrong parents.")
        table = np.asarray(self.tables[j], dtype=np.float64)
        shape = tuple(len(self.states[i]) for i in (j, *above))
        _check(table.shape == shape, f"the table of node {name} must be of shape {shape}, got {table.shape}.")
        good = bool(np.isfinite(table).all() and (table >= 0).all())
        _check(good, f"the table of node {name} must hold probabilities, finite and not negative.")
        total = table.sum(axis=0)
        # files are rounded: columns that nearly sum to 1 are made exact
        _check(
            bool((np.abs(total - 1) <= 0.01).all()),
            f"the table of node {name} must sum to 1 over its states, whatever its parents show; it has "
            f"{float(np.ravel(total)[np.abs(np.ravel(total) - 1).argmax()]):.4g}.",
        )
        return np.asarray(table / total)

    def __repr__(self) -> str:
        nodes, edges = count_text(len(self.names), "nodes"), count_text(sum(map(len, self.parents)), "edges")
        return f"NetworkTables({nodes}, {edges})"

    def _table(self) -> Any:
        above = [tuple(self.names[i] for i in parents) for parents in self.parents]
        return {"node": self.names, "states": list(map(tuple, self.states)), "parents": above}

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
        raise ValueError(f"{what}: the network has no node {short_repr(name)}; {near(str(name), self.names, 'it has')}")

    def ancestors(self, nodes: Sequence[int]) -> list[int]:
        """Nodes and all above them, in increasing order; the others say nothing about these."""
        return ancestors(nodes, self.parents)

    def sample(self, n: int, random_state: Any = None) -> IntArray:
        """Draw states of all nodes, (n, n_nodes)."""
        rng, drawn = as_generator(random_state), np.zeros((n, len(self.names)), dtype=np.intp)
        for j in self.order():
            index: Any = (slice(None), *(drawn[:, i] for i in self.parents[j]))
            table = self.tables[j][index]
            table = np.broadcast_to(table.reshape(len(table), -1), (len(table), n))
            below = table.cumsum(axis=0) <= rng.random(n)
            drawn[:, j] = np.minimum(below.sum(axis=0), len(table) - 1)
        return drawn

    @classmethod
    def from_value(cls, network: Any) -> NetworkTables:
        """Take a network in any form that is known: tables, a file, or a network of pgmpy."""
        if isinstance(network, NetworkTables):
            return network
        return read_network(network) if isinstance(network, (str, os.PathLike)) else cls.from_pgmpy(network)

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
        _check(not missing, f"the network has no table (CPD) for {join_names(missing)}.")
        number = {node: j for j, node in enumerate(nodes)}
        tables, parents, states = [], [], []
        for node in nodes:
            above = list(cpds[node].variables[1:])
            _check(
                set(above) <= set(nodes), f"the table of node {short_repr(str(node))} names a node that is not there."
            )
            # each table has an order of the parents' states of its own
            places = [_places(cpds[node].state_names[i], cpds[i].state_names[i], node) for i in above]
            values = np.asarray(cpds[node].values, dtype=np.float64)
            for axis, place in enumerate(places, 1):
                values = values.take(place, axis=axis)
            tables.append(values)
            parents.append([number[i] for i in above])
            states.append([str(state) for state in cpds[node].state_names[node]])
        return cls([str(node) for node in nodes], states, parents, tables)

    def _check_stored(self) -> None:
        again = NetworkTables(self.names, self.states, self.parents, self.tables)  # which checks them
        for table, wanted in zip(self.tables, again.tables):
            check_array(table, "a table", "f", *wanted.shape)


def _places(own: Sequence[Any], wanted: Sequence[Any], node: Hashable) -> list[int]:
    """Where the states of a parent stand in a child's table."""
    _check(
        sorted(map(str, own)) == sorted(map(str, wanted)),
        f"node {short_repr(str(node))} knows other states of a parent.",
    )
    texts = [str(state) for state in own]
    return [texts.index(str(state)) for state in wanted]


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


@dataclass(frozen=True)
class FileLimits:
    """What a file may hold, so that reading it takes half a gigabyte at most, whatever it unpacks to."""

    max_bytes: int = 2**26  #: text in memory
    max_numbers: int = 2**23  #: of 8 bytes, in all tables
    max_names: int = 2**19  #: nodes, states, parents and elements of XML together, of some 300 bytes each
    #: attributes that a document declares, looked at again for every element; XMLBIF's own declares two
    max_declared: int = 100


LIMITS = FileLimits()


#: What reading a file that is damaged may raise.
_UNSOUND = (ValueError, KeyError, IndexError, TypeError, OSError, EOFError, zlib.error, expat.ExpatError)

#: What a file says of a node: its states, its parents, and what makes its table, of shape (n_states, states of the
#: parents, ...), once that is known to be no larger than a table may be.
_Node = tuple[list[str], list[str], Callable[[list[int]], FloatArray]]


def read_network(path: str | os.PathLike[str]) -> NetworkTables:
    """Read a network by the ending of its file; see `DiscreteNetwork.from_file`."""
    path = Path(path)
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in READERS:
        raise ValueError(f"{path}: a network is a file that ends in {', '.join(READERS)}, each also with .gz.")
    check_regular(path)
    try:
        return _assemble(READERS[ending](_text(path, READERS[ending] is _xml)))
    except FileNotFoundError:
        raise
    except _UNSOUND as error:
        kind = ending.removeprefix(".").upper()
        raise ValueError(f"{path} is no sound {kind} file of a discrete network: {sentence(error)}") from error


def _text(path: Path, is_xml: bool) -> str:
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        file: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        content = file.read(LIMITS.max_bytes + 1)
    # a text of letters beyond Latin takes two or four bytes for each
    if len(content) > LIMITS.max_bytes or sys.getsizeof(text := _decode(content, is_xml)) > LIMITS.max_bytes:
        raise ValueError(f"it holds more than {LIMITS.max_bytes // 2**20} MB of text{', unpacked' if packed else ''}.")
    return text


_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.-]+)["'][^>]*>""")
#: What programs write that declare the former.
_WIDER = {"ascii": "utf-8", "gb2312": "gb18030", "gbk": "gb18030"}


def _decode(content: bytes, is_xml: bool) -> str:
    """A text by its mark or, of XML, by what it declares; otherwise UTF-8."""
    mark = next((mark for mark in _MARKS if content.startswith(mark)), b"")
    declared = _DECLARED.match(content[:1000]) if is_xml and not mark else None
    encoding = declared[1].decode() if declared else _MARKS.get(mark, "utf-8")
    try:
        encoding = _WIDER.get(codecs.lookup(encoding).name, encoding)
        if declared and declared[0].decode(encoding, "replace") != declared[0].decode("latin-1"):
            encoding = "utf-8"  # it is not what it declares, as of a text that a program made in UTF-16
        text = content[len(mark) :].decode(encoding)
    except (LookupError, UnicodeError) as error:
        raise ValueError(f"it is no text in {encoding}, write it as UTF-8: {sentence(error)}") from error
    _check("\0" not in text, "it holds NUL, as a text in UTF-16 without a mark does: write it as UTF-8.")
    return text


def _assemble(nodes: dict[str, _Node]) -> NetworkTables:
    number = {name: j for j, name in enumerate(nodes)}
    for name, (states, parents, _) in nodes.items():
        _check(bool(name.strip()), "a node has no name.")
        _check(all(map(str.strip, states)), f"node {short_repr(name)} has a state without a name.")
        for above in parents:
            _check(above in number, f"node {short_repr(name)} has the parent {short_repr(above)}, which is no node.")
    shapes = {name: [len(nodes[i][0]) for i in (name, *parents)] for name, (_, parents, _) in nodes.items()}
    _check_numbers(shapes)
    above_ = [[number[i] for i in parents] for _, parents, _ in nodes.values()]
    tables = [table(shapes[name]) for name, (*_, table) in nodes.items()]
    return NetworkTables(list(nodes), [states for states, *_ in nodes.values()], above_, tables)


def _check_numbers(shapes: dict[str, list[int]]) -> None:
    total = 0
    for name, shape in shapes.items():
        # of many sizes the product would be long in coming
        total += functools.reduce(lambda entries, size: min(entries * size, LIMITS.max_numbers + 1), shape, 1)
        if total > LIMITS.max_numbers:
            raise ValueError(
                f"its tables to that of node {short_repr(name)} have more than {LIMITS.max_numbers:,} entries."
            )


def _check_names(n: int) -> int:
    _check(n <= LIMITS.max_names, f"it has more than {LIMITS.max_names:,} nodes, states and parents.")
    return n


_WORD, _NUMBER, _GAP = re.compile(r"\S+"), re.compile(r"[^\s,()]+"), re.compile(r"[\s,()]")


def _words(pattern: re.Pattern[str], text: str, most: int) -> Iterator[str]:
    """As many words as there may be, and one more where there are more; no long list of them is made."""
    return itertools.islice(pattern.findall(text) if len(text) < 2**16 else _split(pattern, text), most + 1)


def _split(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        gap = _GAP.search(text, at + 2**16)
        end = gap.start() if gap else len(text)
        yield from pattern.findall(text, at, end)
        at = end


def _parts(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Matches of a pattern that may hold gaps, up to as many names as there may be."""
    return map(operator.itemgetter(0), itertools.islice(pattern.finditer(text), LIMITS.max_names + 1))


def _numbers(words: Iterator[str], name: str, shape: Sequence[int]) -> FloatArray:
    """A table of numbers one by one, of which no list is made."""
    size = math.prod(shape)
    try:
        values = np.fromiter(map(float, words), dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"the table of node {short_repr(name)} holds something that is not a number: {sentence(error)}"
        ) from None
    if values.size != size:
        many = f"more than {size}" if values.size > size else f"{values.size}"
        raise ValueError(f"the table of node {short_repr(name)} has {many} numbers, not {size}.")
    return values.reshape(shape)


def _place(state: str, states: dict[str, int], node: str, where: str) -> int:
    """Number of a state of a node that is named somewhere."""
    if state not in states:
        raise ValueError(
            f"{where} names the state {short_repr(state)}, and {short_repr(node)} has {join_names(states)}."
        )
    return states[state]


# BIF ------------------------------------------------------------------------------------------------------------------

_APART = re.compile(r'"[^"]*"|//[^\n]*|/\*.*?\*/|/\*|"', re.DOTALL)
_SIGN, _NAME = re.compile(r'"[^"]*"|\{|\}'), re.compile(r'"[^"]*"|[^\s,;"]+')
#: What stands between semicolons, and between commas.
_ENTRY, _BETWEEN = re.compile(r'(?:"[^"]*"|[^";]+)+'), re.compile(r'(?:"[^"]*"|[^",;]+)+')
_HEAD = re.compile(r"[\s;]*(network|variable|probability)\b(.*)", re.DOTALL)
_KIND = re.compile(r"\(.*\)|[^\s,()]*", re.DOTALL)
_TYPE = re.compile(r"\btype\s+discrete\s*\[\s*(.*?)\s*\]\s*$", re.DOTALL)


def _bif(text: str) -> dict[str, _Node]:
    states: dict[str, list[str]] = {}
    heads: list[tuple[str, str]] = []
    n_names = 0
    most = 4 * LIMITS.max_names  # each of them is looked at
    _check(sum(map(text.count, '"/{}')) <= most, f"it has more than {most:,} quotes, slashes and braces.")
    for head, body in _blocks(_APART.sub(_replace_comment, text)):
        match = _HEAD.match(head)
        words = _split_names(match[2]) if match else []
        if match and match[1] == "variable" and len(words) == 1:
            _check(words[0] not in states, f"there are two variables {short_repr(words[0])}.")
            states[words[0]] = _bif_states(words[0], body)
            n_names = _check_names(n_names + 1 + len(states[words[0]]))
        elif match and match[1] == "probability":
            heads.append((match[2].strip(), body))
        elif match and match[1] == "variable" and words:
            raise ValueError(
                f"a variable has one name, in quotes if that has blanks, not {short_repr(' '.join(words))}."
            )
        elif not match or match[1] != "network":
            raise ValueError(
                f"network, variable or probability must stand before {{, not {short_repr(head.strip()[:100])}."
            )
    places = {name: {state: v for v, state in enumerate(own)} for name, own in states.items()}
    nodes: dict[str, tuple[list[str], str]] = {}
    for head, body in heads:
        scope = _scope(head, states)
        n_names = _check_names(n_names + len(scope))
        if not scope or scope[0] in nodes:
            raise ValueError(f"there are two tables, or a table of no node: {short_repr(head[:100])}.")
        nodes[scope[0]] = (scope[1:], body)
    for name in [*states, *nodes]:
        _check(name in nodes, f"variable {short_repr(name)} has no table.")
        _check(name in states, f"there is a table of {short_repr(name)}, which is no variable.")
    return {
        name: (states[name], nodes[name][0], functools.partial(_bif_table, name, *nodes[name], places))
        for name in states
    }


def _replace_comment(apart: re.Match[str]) -> str:
    """What is in quotes, and a blank in place of a comment."""
    if apart[0] in ('"', "/*"):
        raise ValueError(f"a {'comment' if apart[0] == '/*' else 'quote'} is not closed.")
    return apart[0] if apart[0].startswith('"') else " "


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """What stands before braces, and between them."""
    depth = after = begin = 0
    for sign in _SIGN.finditer(text):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        _check(depth >= 0, "a brace is closed that was not opened.")
        if sign[0] == "{" and depth == 1:
            begin = sign.end()
        elif sign[0] == "}" and not depth:
            yield text[after : begin - 1], text[begin : sign.start()]
            after = sign.end()
    _check(not depth, "a brace is not closed.")
    if text[after:].strip("; \t\r\n"):
        yield text[after:], ""


def _unquote(word: str) -> str:
    return word[1:-1] if word.startswith('"') else word


def _split_names(text: str, wanted: int = -1) -> list[str]:
    """Names, with commas between or without; of several words each, as pgmpy writes them, with commas."""
    words = list(map(_unquote, _parts(_NAME, text)))
    if len(words) == wanted or wanted < 0:
        return words
    several = [" ".join(part.replace('"', " ").split()) for part in _parts(_BETWEEN, text) if part.strip()]
    return several if len(several) == wanted else words


def _scope(head: str, states: Collection[str]) -> list[str]:
    """A node and its parents; what is not in quotes may hold a bar in its name."""
    inner = head[1:-1] if head.startswith("(") and head.endswith(")") else head
    scope: list[str] = []
    for word in _parts(_NAME, inner):
        whole = word.startswith('"') or word in states
        scope += [_unquote(word)] if whole else filter(None, word.split("|"))
    return scope


def _bif_states(name: str, body: str) -> list[str]:
    for head, inner in _blocks(body):
        if match := _TYPE.search(head):
            n = int(match[1]) if match[1].isdecimal() and len(match[1]) < 10 else -1
            own = _split_names(inner, n)
            _check(
                len(own) == n, f"variable {short_repr(name)} must list {match[1]} states, it lists {join_names(own)}."
            )
            return own
    raise ValueError(f"variable {short_repr(name)} must be of the type discrete [ n ] {{ its n states }}.")


def _bif_table(
    name: str, parents: list[str], body: str, places: dict[str, dict[str, int]], shape: list[int]
) -> FloatArray:
    table, filled, default = np.full(shape, np.nan), np.zeros(shape[1:], dtype=bool), None
    rest = body.rstrip()
    _check(rest[-1:] in ("", ";"), f"a semicolon is missing after {short_repr(rest[-40:])}.")
    label = short_repr(name)
    for entry in (match[0].strip() for match in _ENTRY.finditer(body)):
        kind = _KIND.match(entry)[0]  # type: ignore[index]
        if kind == "property" or not entry:
            continue
        if kind not in ("table", "default") and not kind.startswith("("):
            raise ValueError(f"the table of {label} holds {short_repr(entry[:100])}.")
        size = shape if kind == "table" else shape[:1]
        values = _numbers(_words(_NUMBER, entry[len(kind) :], math.prod(size)), name, size)
        if kind == "default":
            _check(default is None, f"the table of {label} has two defaults.")
            default = values.reshape(-1, *[1] * len(parents))
            continue
        known = _split_names(kind[1:-1], len(parents)) if kind != "table" else []
        where = f"the table of {label}, in its entry {kind},"
        _check(kind == "table" or len(known) == len(parents), f"{where} must name a state of each of its parents.")
        place: Any = tuple(_place(state, places[above], above, where) for above, state in zip(parents, known))
        _check(not np.any(filled[place]), f"{where} says again what was said.")
        whole: Any = (slice(None), *place)
        table[whole] = values
        filled[place] = True
    table = table if default is None else np.where(filled, table, default)
    _check(not np.isnan(table).any(), f"the table of {label} leaves states of the parents out.")
    return table


# XML ------------------------------------------------------------------------------------------------------------------


def _xml(text: str) -> dict[str, _Node]:
    root = _tree(text)
    return _xmlbif(root) if root.find("nodes") is None else _xdsl(root)


def _tree(text: str) -> Any:
    # so many elements and attributes there can be
    _check_names(max(text.count("<") // 2, text.count("=")))
    parser, tree, declared = expat.ParserCreate(), ElementTree.TreeBuilder(), itertools.count(1)
    parser.specified_attributes = parser.buffer_text = True
    too_many = f"it declares more than {LIMITS.max_declared} attributes."
    parser.AttlistDeclHandler = lambda *_: _check(next(declared) <= LIMITS.max_declared, too_many)
    # which may unfold without end
    parser.EntityDeclHandler = lambda *_: _check(False, "it declares entities, which no network needs.")
    parser.CharacterDataHandler = tree.data
    # names as they are in files without a namespace
    parser.StartElementHandler = lambda tag, attributes: tree.start(tag.rpartition(":")[2], attributes)
    parser.EndElementHandler = lambda tag: tree.end(tag.rpartition(":")[2])
    parser.Parse(text, True)
    return tree.close()


def _only(element: Any, tag: str) -> Any:
    """The one part of that name, or None."""
    parts = element.findall(tag)
    _check(len(parts) < 2, f"a {element.tag}{_of_name(element)} has {tag} twice.")
    return parts[0] if parts else None


def _of_name(element: Any) -> str:
    name = element.get("id") or element.findtext("NAME") or element.findtext("FOR")
    return f" of {short_repr(name.strip())}" if name else ""


def _text_of(element: Any, tag: str) -> str:
    part = _only(element, tag)
    return (part.text or "") if part is not None else ""


def _require_text(element: Any, tag: str) -> str:
    text = _text_of(element, tag).strip()
    _check(text != "", f"a {element.tag}{_of_name(element)} has no {tag}.")
    return text


def _texts(element: Any, tag: str) -> list[str]:
    return [(part.text or "").strip() for part in element.findall(tag)]


def _xmlbif(root: Any) -> dict[str, _Node]:
    network = root if root.tag == "NETWORK" else _only(root, "NETWORK")
    _check(network is not None, "it has no element NETWORK, as XMLBIF has, and no nodes, as XDSL has.")
    states: dict[str, list[str]] = {}
    for variable in network.findall("VARIABLE"):
        name, kind = _require_text(variable, "NAME"), variable.get("TYPE", "nature")
        is_chance = kind.strip().lower() not in ("decision", "utility")
        _check(
            is_chance, f"variable {short_repr(name)} is of the type {short_repr(kind)}; make it a node of chance first."
        )
        _check(name not in states, f"there are two variables {short_repr(name)}.")
        states[name] = _texts(variable, "OUTCOME")
    nodes: dict[str, _Node] = {}
    for definition in network.findall("DEFINITION"):
        name = _require_text(definition, "FOR")
        _check(name in states, f"a definition is for {short_repr(name)}, which is no variable.")
        _check(name not in nodes, f"there are two definitions for {short_repr(name)}.")
        table = functools.partial(_child_last, _text_of(definition, "TABLE"), name)
        nodes[name] = states[name], _texts(definition, "GIVEN"), table
    for name in states:
        _check(name in nodes, f"variable {short_repr(name)} has no definition.")
    return nodes


def _child_last(text: str, name: str, shape: list[int]) -> FloatArray:
    """A table in which the node's own states change fastest, then those of its last parent."""
    values = _numbers(_words(_WORD, text, math.prod(shape)), name, [*shape[1:], shape[0]])
    return np.moveaxis(values, -1, 0)


def _xdsl(root: Any) -> dict[str, _Node]:
    unroll = "unroll it in GeNIe first."
    _check(root.find("dynamic") is None, f"it is a dynamic network (it has an element dynamic); {unroll}")
    nodes: dict[str, _Node] = {}
    n_names = 0
    for node in _only(root, "nodes"):
        name = node.get("id") or ""
        is_table, plate = node.tag in ("cpt", "deterministic"), short_repr(node.get("dynamic"))
        _check(
            is_table,
            f"node {short_repr(name)} is of the kind {short_repr(node.tag)}; turn it into a cpt in GeNIe first.",
        )
        _check(plate == "None", f"node {short_repr(name)} is of a dynamic network ({plate}); {unroll}")
        _check(name not in nodes, f"there are two nodes {short_repr(name)}.")
        states = [state.get("id") or "" for state in node.findall("state")]
        parents = list(_words(_WORD, _text_of(node, "parents"), LIMITS.max_names))
        n_names = _check_names(n_names + 1 + len(states) + len(parents))
        if node.tag == "cpt":
            table = functools.partial(_child_last, _text_of(node, "probabilities"), name)
        else:
            table = functools.partial(_deterministic_table, _text_of(node, "resultingstates"), name, states)
        nodes[name] = states, parents, table
    return nodes


def _deterministic_table(text: str, name: str, states: list[str], shape: list[int]) -> FloatArray:
    """A table of a node that its parents determine."""
    size, numbers = math.prod(shape[1:]), {state: v for v, state in enumerate(states)}
    where = f"node {short_repr(name)}, in its resulting states,"
    sure = [_place(state, numbers, name, where) for state in _words(_WORD, text, size)]
    _check(len(sure) == size, f"node {short_repr(name)} must have {size} resulting states, not {len(sure)}.")
    table = np.zeros((shape[0], size))
    table[sure, np.arange(size)] = 1.0
    return table.reshape(shape)


# UAI ------------------------------------------------------------------------------------------------------------------


def _uai(text: str) -> dict[str, _Node]:
    words = _split(_WORD, re.sub(r"#[^\n]*", "", text))
    n_names = itertools.count(1)

    def read_whole(most: float = LIMITS.max_numbers) -> int:
        word = next(words, "")
        _check_names(next(n_names))
        n = int(word) if word.isdecimal() and len(word) < 12 else -1
        if not 0 <= n <= most:
            raise ValueError(f"a whole number is expected where {short_repr(word) if word else 'the file ends'}.")
        return n

    kind = next(words, "")
    _check(kind == "BAYES", f"it must begin with BAYES, a network of tables, not {short_repr(kind)}.")
    names = [f"x{j}" for j in range(read_whole(LIMITS.max_names))]
    sizes = [read_whole(LIMITS.max_names) for _ in names]
    _check(min(sizes, default=1) > 0, "a node has no state.")
    _check_names(sum(sizes))
    scopes = [
        [read_whole(len(names) - 1) for _ in range(read_whole(len(names)))] for _ in range(read_whole(len(names)))
    ]
    shapes = {names[scope[-1]]: [sizes[j] for j in scope] for scope in scopes if scope}
    _check(len(shapes) == len(scopes), "each node must have one table, of which it is the last variable.")
    _check_numbers(shapes)
    tables = {
        name: np.moveaxis(_numbers(itertools.islice(words, read_whole()), name, shape), -1, 0)
        for name, shape in shapes.items()
    }
    for name in names:
        _check(name in shapes, f"node {name!r} has no table.")
    _check(next(words, None) is None, "something follows the last table.")
    states = [str(v) for v in range(max(sizes, default=0))]
    above = {names[scope[-1]]: [names[j] for j in scope[:-1]] for scope in scopes}
    return {n: (states[:size], above[n], functools.partial(np.reshape, tables[n])) for n, size in zip(names, sizes)}


#: By ending.
READERS = {".bif": _bif, ".xmlbif": _xml, ".xml": _xml, ".xdsl": _xml, ".uai": _uai}
