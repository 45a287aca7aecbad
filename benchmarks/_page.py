"""The page of ratios that ``python -m benchmarks`` writes, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_QUICK = (
    "This page is from a quick run: `python -m benchmarks`, with tiny sizes, to show that the scripts run. Seconds and "
    "ratios say little about real sizes."
)
_FULL = "This page is from a full run: `python -m benchmarks --full`, in one session or several (`--resume`)."


def page(result: dict[str, Any]) -> str:
    """The page of a run, which may not have ended yet."""
    rows = [row for row in result["rows"] if row["ratio"] is not None]
    slower = sum(row["ratio"] < 1 for row in rows)
    parts = [
        "# Benchmarks",
        _FULL if result["mode"] == "full" else _QUICK,
        _made_with(result),
        "Each ratio is the peer's seconds divided by ours. Above 1, seqclass is faster; below 1, it is slower, and the "
        f"ratio is in bold. seqclass is slower in {slower} of the {len(rows)} rows with a peer; "
        f"{len(result['rows']) - len(rows)} rows have no peer, and are not shown. Peak MB: {result['peak_is']}.",
    ]
    if result["not_asked"]:
        parts.append(f"These benchmarks were not part of the run: {', '.join(result['not_asked'])}.")
    if rows:
        parts += ["## Ratios", _table(_RATIOS, "lllrrrr", map(_beside, rows))]
    parts += ["## Scripts", _table(_SCRIPTS, "lllrrrl", (_script(told, result["rows"]) for told in result["scripts"]))]
    return "\n\n".join(parts) + "\n"


_RATIOS = ("benchmark", "what", "peer", "ours, s", "peer, s", "peer / ours", "peak MB")
_SCRIPTS = (
    "benchmark",
    "status",
    "begun",
    "load then",
    "seconds",
    "rows",
    "what was left out, or why there are no figures",
)


def _made_with(result: dict[str, Any]) -> str:
    found = [f"{name} {version or '(not installed)'}" for name, version in result["versions"].items()]
    threads = ", ".join(f"{name}={value}" for name, value in result["threads"].items())
    machine = [result["system"], result["processor"], f"{result['cpu_count']} processors", threads]
    return f"{', '.join(found)}; {', '.join(filter(None, machine))}."


def _beside(row: dict[str, Any]) -> Sequence[str]:
    ratio = _number(row["ratio"])
    numbers = (_number(row["ours_s"]), _number(row["peer_s"]), f"**{ratio}**" if row["ratio"] < 1 else ratio)
    return (row["benchmark"], row["name"], row["peer"], *numbers, _number(row["peak_mb"]))


def _script(told: dict[str, Any], rows: list[dict[str, Any]]) -> Sequence[str]:
    count = sum(row["benchmark"] == told["name"] for row in rows)
    why = told["reason"] or "; ".join(told["left_out"])
    load = "-" if told["load"] is None else str(told["load"])
    return (told["name"], told["status"], told["started"], load, f"{told['seconds']:.1f}", str(count), why)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _table(titles: Sequence[str], sides: str, lines: Iterable[Sequence[str]]) -> str:
    marks = [{"l": "---", "r": "---:"}[side] for side in sides]
    shown = [titles, marks, *([cell.replace("|", "\\|") for cell in line] for line in lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in shown)
