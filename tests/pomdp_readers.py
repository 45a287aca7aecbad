"""Readers and writers of other solvers' files, written from the formats' descriptions alone."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
NUMBER = re.compile(r"-?\d+\.\d+")


def decimal(text: str) -> float:
    assert NUMBER.fullmatch(text), text
    return float(text)


def read_cassandra(path: Path) -> SimpleNamespace:
    """T[a, s, s'], O[a, s', o], R[a, s] of a .POMDP file; later lines override, ``*`` is everything."""
    lines = [line for line in path.read_text("ascii").splitlines() if not line.startswith("#")]
    head: dict[str, list[str]] = {}
    for key in ("discount", "values", "states", "actions", "observations", "start"):
        name, _, rest = lines.pop(0).partition(":")
        assert name == key
        head[key] = rest.split()
    assert head["values"] == ["reward"]
    sets = {key: head[key] for key in ("states", "actions", "observations")}
    for names in sets.values():
        assert len(set(names)) == len(names)
        assert all(NAME.fullmatch(name) for name in names)
    S, A, Z = (len(sets[key]) for key in ("states", "actions", "observations"))
    model = SimpleNamespace(**sets, T=np.zeros((A, S, S)), O=np.zeros((A, S, Z)), R=np.zeros((A, S)))
    model.discount, model.start = decimal(head["discount"][0]), np.array([decimal(p) for p in head["start"]])
    for line in lines:
        table, rest = line[0], line[2:]
        *fields, last = [field.strip() for field in rest.split(":")]
        name, value = last.split()
        fields.append(name)
        kinds = {"T": "aSS", "O": "aSo", "R": "aSSo"}[table]
        index = []
        for kind, field in zip(kinds, fields, strict=True):
            names = sets[{"a": "actions", "S": "states", "o": "observations"}[kind]]
            index.append(slice(None) if field == "*" else names.index(field))
        if table == "R":
            assert fields[2:] == ["*", "*"]
            index = index[:2]
        getattr(model, table)[tuple(index)] = decimal(value)
    return model


def alpha_text(vectors: list[tuple[int, Any]]) -> str:
    return "\n".join(f"{a}\n{' '.join(f'{x:.25f}' for x in v)} \n" for a, v in vectors)


def xml_text(vectors: list[tuple[int, int, Any]], n_nodes: int, sparse: bool = False) -> str:
    length = len(vectors[0][2])
    lines = [
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<Policy version="0.1" type="value" model="a.pomdpx">',
        f'<AlphaVector vectorLength="{length}" numObsValue="{n_nodes}" numVectors="{len(vectors)}">',
    ]
    for action, node, v in vectors:
        if sparse:
            inner = "".join(f"<Entry>{i} {x!r}</Entry>" for i, x in enumerate(v.tolist()) if x)
            lines.append(f'<SparseVector action="{action}" obsValue="{node}">{inner}</SparseVector>')
        else:
            lines.append(f'<Vector action="{action}" obsValue="{node}">{" ".join(map(repr, v.tolist()))} </Vector>')
    return "\n".join([*lines, "</AlphaVector> </Policy>\n"])
