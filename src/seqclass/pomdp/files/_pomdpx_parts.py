"""Pieces of POMDPX files."""

from __future__ import annotations

from collections.abc import Iterator

from seqclass._arrays import FloatArray
from seqclass.pomdp.files._names import number

HEAD = (
    '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
    '<pomdpx version="1.0" id="acquisition" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:noNamespaceSchemaLocation="pomdpx.xsd">'
)


def values(names: list[str]) -> str:
    return f"<ValueEnum>{' '.join(names)}</ValueEnum>"


def probabilities(text: str) -> str:
    return f"<ProbTable>{text}</ProbTable>"


def entry(instance: str, row: FloatArray) -> str:
    return f"<Entry><Instance>{instance}</Instance>{probabilities(' '.join(map(number, row.tolist())))}</Entry>"


def table(variable: str, parents: str, entries: Iterator[str] | list[str], tag: str = "CondProb") -> Iterator[str]:
    yield f'<{tag}><Var>{variable}</Var><Parent>{parents}</Parent><Parameter type="TBL">'
    yield from entries
    yield f"</Parameter></{tag}>"


def reward(instance: str, cost: float) -> str:
    return f"<Entry><Instance>{instance}</Instance><ValueTable>{number(-cost)}</ValueTable></Entry>"
