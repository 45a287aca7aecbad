"""The page of ratios that ``python -m benchmarks`` writes, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_QUICK = "A quick run: tiny sizes, which show that the scripts run. Its seconds and ratios say little about real sizes."
_FULL = "A full run."


def page(result: dict[str, Any]) -> str:
    """The page of a run, which may not have ended yet."""
    rows = [row for row in result["rows"] if row["ratio"] is not None]
    slower = sum(row["ratio"] < 1 for row in rows)
    ended = len(result["scripts"])
    parts = [
        "# Benchmarks",
        f"{_FULL if result['mode'] == 'full' else _QUICK} `{result['command']}`, "
        f"{ended} of {len(result['asked'])} scripts, begun {result['started']}.",
        _made_with(result),
        "A ratio is the peer's seconds over ours: above 1 we are faster. "
        f"Of {len(rows)} rows beside a peer we are slower in {slower}; {len(result['rows']) - len(rows)} have no peer. "
        f"Peak MB: {result['peak_is']}.",
    ]
    if rows:
        parts += ["## Ratios", _table(_RATIOS, "lllrrrr", map(_beside, rows))]
    parts += ["## Scripts", _table(_SCRIPTS, "llrrl", (_script(told, result["rows"]) for told in result["scripts"]))]
    return "\n\n".join(parts) + "\n"


_RATIOS = ("benchmark", "what", "peer", "ours, s", "peer, s", "peer / ours", "peak MB")
_SCRIPTS = ("benchmark", "status", "seconds", "rows", "what it did without, or why it has no figures")


def _made_with(result: dict[str, Any]) -> str:
    found = [f"{name} {version or '(not installed)'}" for name, version in result["versions"].items()]
    threads = ", ".join(f"{name}={value}" for name, value in result["threads"].items())
    return f"{', '.join(found)}; {result['system']}, {result['cpu_count']} processors, {threads}."


def _beside(row: dict[str, Any]) -> Sequence[str]:
    ratio = _number(row["ratio"])
    numbers = (_number(row["ours_s"]), _number(row["peer_s"]), f"**{ratio}**" if row["ratio"] < 1 else ratio)
    return (row["benchmark"], row["name"], row["peer"], *numbers, _number(row["peak_mb"]))


def _script(told: dict[str, Any], rows: list[dict[str, Any]]) -> Sequence[str]:
    count = sum(row["benchmark"] == told["name"] for row in rows)
    why = told["reason"] or "; ".join(told["left_out"])
    return (told["name"], told["status"], f"{told['seconds']:.1f}", str(count), why)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _table(titles: Sequence[str], sides: str, lines: Iterable[Sequence[str]]) -> str:
    marks = [{"l": "---", "r": "---:"}[side] for side in sides]
    shown = [titles, marks, *([cell.replace("|", "\\|") for cell in line] for line in lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in shown)
