"""Parsers of alpha-vector policies: pomdp-solve's .alpha and the policy XML of SARSOP (APPL)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from seqclass._arrays import FloatArray, IntArray

#: Most entries of a vector, where the problem does not tell.
_LONGEST = 10**6
#: Most entries of all vectors: so many, and so many more for each byte of the file.
_FREE, _FILLED = 10**7, 64


class VectorFile(NamedTuple):
    """Alpha vectors as a file holds them.

    Attributes
    ----------
    action : ndarray of int of shape (n_vectors,)
        First action of each vector's plan.
    vectors : ndarray of shape (n_vectors, length)
        The vectors, in rewards.
    node : ndarray of int of shape (n_vectors,)
        Value of the observed variable each belongs to; 0 where there is none.
    n_nodes : int
        Number of values of the observed variable; 1 where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> VectorFile(np.array([0]), np.array([[-0.2, -0.3]]), np.array([0]), 1).n_nodes
    1
    """

    action: IntArray
    vectors: FloatArray
    node: IntArray
    n_nodes: int


class _Malformed(ValueError):
    """What is wrong, without the file's name."""


def parse(path: str | os.PathLike[str], longest: int = _LONGEST) -> VectorFile:
    r"""Read the vectors of a policy file of either kind.

    Parameters
    ----------
    path : path-like
        The file; XML is recognised by its first character.
    longest : int
        Most entries of a vector that is given by a few of them.

    Returns
    -------
    VectorFile

    Raises
    ------
    ValueError
        If the file is neither, or is broken; the message names the file and the place.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.alpha")
    ...     with open(path, "w") as file:
    ...         _ = file.write("0\n-0.2 -0.3\n\n1\n0.0 -1.0\n")
    ...     parse(path).action
    array([0, 1])
    """
    content = Path(path).read_bytes()
    try:
        if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            return _parse_xml(content, longest)
        return _parse_alpha(content)
    except _Malformed as error:
        raise ValueError(f"{os.fspath(path)} is no alpha-vector policy: {error}.") from error


def _parse_alpha(content: bytes) -> VectorFile:
    actions: list[int] = []
    vectors: list[FloatArray] = []
    pending: str | None = None
    for place, raw in enumerate(content.splitlines(), 1):
        line = raw.decode("latin-1").strip()
        if not line or line.startswith("#"):
            continue
        where = f"line {place}"
        if pending is None:
            actions.append(_integer(line, f"{where} (an action's number)"))
            pending = where
            continue
        vectors.append(_floats(line, where))
        if len(vectors[-1]) != len(vectors[0]):
            raise _Malformed(f"{where} has {len(vectors[-1])} entries, earlier vectors have {len(vectors[0])}")
        pending = None
    if pending is not None:
        raise _Malformed(f"it ends after the action of {pending}, where a vector should follow")
    if not vectors:
        raise _Malformed("it holds no vectors")
    return VectorFile(np.array(actions), np.array(vectors), np.zeros(len(actions), dtype=np.intp), 1)


def _parse_xml(content: bytes, longest: int) -> VectorFile:
    reader = _PolicyXML(longest, _FREE + _FILLED * len(content))
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise _Malformed(f"its XML is broken ({error})") from error
    if reader.length < 0:
        raise _Malformed("it has no AlphaVector element")
    if not reader.vectors:
        raise _Malformed("it holds no vectors")
    node = np.array(reader.nodes)
    if node.min() < 0 or node.max() >= reader.n_nodes:
        raise _Malformed(f"a vector's obsValue is not in 0..{reader.n_nodes - 1}")
    return VectorFile(np.array(reader.actions), np.array(reader.vectors), node, reader.n_nodes)


class _PolicyXML:
    """What an XML parser reports, as vectors. A document type is refused: with it come entities without end."""

    def __init__(self, longest: int, most: int) -> None:
        self.longest, self.most = longest, most
        self.length = -1
        self.n_nodes = 1
        self.actions: list[int] = []
        self.nodes: list[int] = []
        self.vectors: list[FloatArray] = []
        self._path: list[str] = []
        self._text: list[str] = []

    def doctype(self, *_: object) -> None:
        raise _Malformed("it declares a document type, which policies do not and which is not read for safety")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._path and tag != "Policy":
            raise _Malformed(f"its root element is {tag}, not Policy")
        if tag == "Policy" and attributes.get("type", "value") != "value":
            raise _Malformed(f"it is a policy of type {attributes['type']!r}; only 'value' (alpha vectors) can be read")
        if tag == "AlphaVector":
            self.length = _attribute(attributes, "vectorLength", tag)
            self.n_nodes = _attribute(attributes, "numObsValue", tag) if "numObsValue" in attributes else 1
        if tag in ("Vector", "SparseVector"):
            if self._path != ["Policy", "AlphaVector"]:
                raise _Malformed(f"a {tag} is not inside Policy, AlphaVector")
            self.actions.append(_attribute(attributes, "action", tag))
            self.nodes.append(_attribute(attributes, "obsValue", tag) if "obsValue" in attributes else 0)
            self._text = []
        self._path.append(tag)

    def end(self, tag: str) -> None:
        self._path.pop()
        if tag == "Entry":
            self._text.append(" ")
        if tag not in ("Vector", "SparseVector"):
            return
        where = f"vector {len(self.vectors) + 1}"
        values = _floats("".join(self._text), where)
        if tag == "SparseVector":
            values = self._dense(values, where)
        if len(values) != self.length:
            raise _Malformed(f"{where} has {len(values)} entries, not vectorLength={self.length}")
        self.vectors.append(values)

    def text(self, data: str) -> None:
        if "Vector" in self._path or "SparseVector" in self._path:
            self._text.append(data)

    def _dense(self, pairs: FloatArray, where: str) -> FloatArray:
        if self.length > self.longest or (len(self.vectors) + 1) * self.length > self.most:
            raise _Malformed(f"vectorLength={self.length} is more than the problem or the file accounts for")
        index, entries = pairs[::2], pairs[1::2]
        if len(index) != len(entries) or not ((index == index.round()) & (index >= 0) & (index < self.length)).all():
            raise _Malformed(f"{where} is not pairs of an index below {self.length} and a value")
        values = np.zeros(self.length)
        values[index.astype(np.intp)] = entries
        return values


def _attribute(attributes: dict[str, str], name: str, tag: str) -> int:
    if name not in attributes:
        raise _Malformed(f"a {tag} has no {name}")
    return _integer(attributes[name], f"{name} of a {tag}")


def _integer(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _Malformed(f"{what} should be a whole number, it is {text[:40]!r}") from None


def _floats(text: str, where: str) -> FloatArray:
    try:
        values = np.array(text.split(), dtype=np.float64)
    except ValueError:
        raise _Malformed(f"{where} should hold numbers only, it reads {text.strip()[:40]!r}") from None
    if not np.isfinite(values).all():
        raise _Malformed(f"{where} holds NaN or infinity")
    return values
