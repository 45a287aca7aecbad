"""Readers and writers of other solvers' files, written from the formats' descriptions alone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
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


def read_factored(path: Path) -> SimpleNamespace:
    """Arrays of a POMDPX file of any state variables: states are all their values, the first variable slowest.

    What is observed is the observation variable and all fully observed state variables.
    """
    root = ET.parse(path).getroot()
    sizes: dict[str, list[str]] = {}
    states, observed = [], []
    for node in root.find("Variable"):
        if node.tag == "RewardVar":
            continue
        names = node.findtext("ValueEnum").split()
        assert all(NAME.fullmatch(name) for name in names)
        sizes |= {node.get(key): names for key in ("vname", "vnamePrev", "vnameCurr") if node.get(key)}
        if node.tag == "StateVar":
            states.append(node.get("vnamePrev")[:-2])
            observed.append(node.get("fullyObs") == "true")
    n_actions, shape = len(sizes["ac"]), [len(sizes[f"{name}_0"]) for name in states]
    place = np.unravel_index(np.arange(np.prod(shape)), shape)
    tables = {block.findtext("Var"): _table(block, sizes) for block in [*root.iter("CondProb"), *root.iter("Func")]}

    def of(name: str) -> Any:
        """Table of a variable for every action and state."""
        array, parents = tables[name]
        index = [np.arange(n_actions)[:, None] if p == "ac" else place[states.index(p[:-2])][None] for p in parents]
        return np.broadcast_to(array[tuple(index)], (n_actions, len(place[0]), *array.shape[len(parents) :]))

    model = SimpleNamespace(discount=decimal(root.findtext("Discount")), variables=sizes, R=of("rw"), start=np.ones(1))
    model.T = np.ones((n_actions, len(place[0]), 1))
    for name in states:
        model.T = (model.T[:, :, :, None] * of(f"{name}_1")[:, :, None]).reshape(n_actions, len(place[0]), -1)
        model.start = np.outer(model.start, tables[f"{name}_0"][0]).ravel()
    n_hidden = int(np.prod([size for size, seen in zip(shape, observed) if not seen]))
    assert observed == sorted(observed, reverse=True)
    seen = np.eye(len(place[0]) // n_hidden).repeat(n_hidden, axis=0)
    model.n_hidden = n_hidden
    model.O = (of("ob")[:, :, :, None] * seen[None, :, None]).reshape(n_actions, len(place[0]), -1)
    return model


def _table(block: Any, sizes: dict[str, list[str]]) -> tuple[Any, list[str]]:
    """Table of a block and its parents; later entries override."""
    name = block.findtext("Var")
    parents = [p for p in block.findtext("Parent").split() if p != "null"]
    order = parents if name == "rw" else [*parents, name]
    array = np.zeros([len(sizes[p]) for p in order])
    for entry in block.iter("Entry"):
        text = entry.findtext("ProbTable") or entry.findtext("ValueTable")
        fields = entry.findtext("Instance").split()
        index = tuple(slice(None) if f in "*-" else sizes[p].index(f) for p, f in zip(order, fields, strict=True))
        free = [len(sizes[p]) for p, f in zip(order, fields) if f == "-"]
        if text == "identity":
            assert fields[-2:] == ["-", "-"]
            array[index] = np.eye(free[0])
        else:
            array[index] = np.array([decimal(p) for p in text.split()]).reshape(free)
    return array, parents
