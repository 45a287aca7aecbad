"""Where methods stand: paired differences with corrected errors, ranks, and wins and losses beyond chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from benchmarks.suite.results import losses
from benchmarks.suite.sets import N_FOLDS
from seqclass.stats import critical_difference

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Difference:
    """How much more one method costs than another, on the same rows of the same sets, at one price."""

    method: str
    cost: float
    mean: float
    #: Half the widths of 95% intervals: of the mean on these sets, and on others like them.
    here: float
    elsewhere: float
    below: list[str]
    above: list[str]
    n_sets: int
    seconds: float

    @property
    def half(self) -> float:
        """The wider of both."""
        return float(np.fmax(self.here, self.elsewhere))


def complete(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of those folds for which there is every method that stands at their price."""
    wanted = frame.groupby("price")["method"].transform("nunique")
    there = frame.groupby(["price", "set", "fold"])["method"].transform("nunique")
    return frame[there == wanted]


def rows_of(lines: pd.DataFrame) -> dict[str, np.ndarray]:
    """What each test row costs, by set, of the lines of a method at a price."""
    rows: dict[str, list[np.ndarray]] = {}
    for _, line in lines.sort_values("fold", kind="stable").iterrows():
        rows.setdefault(line["set"], []).append(losses(line))
    return {name: np.concatenate(parts) for name, parts in rows.items()}


def paired(a: np.ndarray, b: np.ndarray, n_train: float) -> tuple[float, float]:
    """Mean difference of costs on the same rows, and half the width of its 95% interval.

    The variance of a row counts as many errors more as Agresti and Min add to matched pairs (half an error of either
    alone, in two rows more), so that a few rows on which the same errors are made are not sure of anything; and that of
    the mean counts that folds share training rows (Nadeau and Bengio): it is 1 / n + 1 / n_train times that of a row.
    """
    apart = a - b
    n, mean = len(apart), float(apart.mean())
    variance = (((apart - mean) ** 2).sum() + 1) / (n + 1)
    return mean, float(student.ppf(0.5 + CONFIDENCE / 2, n - 1) * np.sqrt(variance * (1 / n + 1 / n_train)))


def differences(frame: pd.DataFrame, price: str, base: str) -> list[Difference]:
    """Every method less one, from the cheapest on; on average over sets each counts once."""
    own = complete(frame)
    own = own[own["price"] == price]
    if base not in set(own["method"]):
        return []
    folds, beside = own.groupby("set")["fold"].nunique(), rows_of(own[own["method"] == base])
    ranked_methods = []
    for method, lines in own.groupby("method", sort=False):
        apart, reach, below, above, rows = [], [], [], [], rows_of(lines)
        for name, loss in rows.items():
            n_train = (N_FOLDS - 1) * len(loss) / folds[name]
            mean, half = paired(loss, beside[name], n_train)
            apart.append(mean)
            reach.append(half)
            below += [name] if mean + half < 0 else []
            above += [name] if mean - half > 0 else []
        n = len(apart)
        over_sets = student.ppf(0.5 + CONFIDENCE / 2, n - 1) * np.std(apart, ddof=1) / np.sqrt(n) if n > 1 else np.nan
        cost = float(np.mean([loss.mean() for loss in rows.values()]))
        here = float(np.linalg.norm(reach) / n)  # sets are apart from one another
        seconds = float(lines["seconds"].mean())
        ranked_methods.append(
            Difference(str(method), cost, float(np.mean(apart)), here, float(over_sets), below, above, n, seconds)
        )
    return sorted(ranked_methods, key=lambda difference: difference.cost)


def costs(frame: pd.DataFrame, price: str) -> pd.DataFrame:
    """Mean cost by set and method."""
    own = complete(frame)
    own = own[own["price"] == price]
    by_method = {method: {k: v.mean() for k, v in rows_of(lines).items()} for method, lines in own.groupby("method")}
    return pd.DataFrame(by_method).loc[list(dict.fromkeys(own["set"]))]


def number(n: Any, what: str) -> str:
    """1 set, 2 sets."""
    return f"{n} {what}{'s' * (n != 1)}"


def caption(frame: pd.DataFrame, price: str, base: str) -> str:
    """A line under a table: of what its intervals are, and what they do not say."""
    own = complete(frame)
    folds = own[own["price"] == price].groupby("set")["fold"].nunique()
    n, several = len(folds), folds.nunique() > 1
    of = ", ".join(
        f"{number(count, 'recorded fold')} of {many if several else 'each'}"
        for count, many in folds.value_counts().sort_index(ascending=False).items()
    )
    few = " With fewer than five sets little can be said." if n < 5 else ""
    return (
        f"95% intervals over {'sets and ' * (n > 1)}rows; {number(n, 'set')}, {of}; not corrected for the number of "
        f'comparisons.{few} "Cheaper on, dearer on" count sets on which the method of the row is cheaper or dearer '
        f"than {base} beyond chance."
    )


def by_price_table(frame: pd.DataFrame, price: str, base: str) -> str:
    """Markdown: each method beside one, at a price."""
    methods = differences(frame, price, base)
    if not methods:
        return f"Nothing is complete at {price}."
    table = costs(frame, price)
    ranked = critical_difference(table, higher_is_better=False, tolerance=1e-6) if len(table) > 1 else None
    rank = dict(zip(ranked.names, ranked.average_ranks)) if ranked else {}
    n_sets = number(methods[0].n_sets, "set")
    lines = [
        f"| {price}, {n_sets} | cost | minus {base} | interval | cheaper on, dearer on | rank | CPU s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for method in methods:
        if method.method == base:
            apart = ["", "", ""]
        else:
            interval = f"{method.mean - method.half:+.4f} to {method.mean + method.half:+.4f}"
            apart = [f"{method.mean:+.4f}", interval, f"{len(method.below)}, {len(method.above)}"]
        name = f"**{method.method}**" if method.method == base else method.method
        rank_of = f"{rank[method.method]:.1f}" if rank else "-"
        lines.append(f"| {name} | {method.cost:.4f} | {' | '.join(apart)} | {rank_of} | {method.seconds:.1f} |")
    sentences = [behind(frame, price, base)]
    beyond = [(method.method, method.below) for method in methods if method.below and method.method != base]
    if beyond:
        listed = "; ".join(f"{method} on {', '.join(names)}" for method, names in beyond)
        sentences.append(f"Cheaper than {base} beyond chance: {listed}.")
    if ranked:
        sentences.append(f"Average ranks differ beyond chance from {ranked.critical_difference:.1f} on (Nemenyi, 5%).")
    else:
        sentences.append("One set has no ranks.")
    return "\n".join([*lines, "", " ".join(sentences)])


def by_set_table(frame: pd.DataFrame, price: str) -> str:
    """Markdown: mean cost of each method on each set, the least in bold."""
    table = costs(frame, price)
    if not len(table):
        return f"Nothing is complete at {price}."
    order = table.mean().sort_values(kind="stable").index
    lines = [f"| {price} | {' | '.join(order)} |", "|---|" + "---:|" * len(order)]
    for name, row in table[order].iterrows():
        least = row.round(3).min()
        cells = (f"**{value:.3f}**" if round(value, 3) == least else f"{value:.3f}" for value in row)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def behind(frame: pd.DataFrame, price: str, base: str, by: float = 0.01) -> str:
    """A sentence: on how many sets a method costs least, and where it is well above the least."""
    table = costs(frame, price)
    others = table.drop(columns=base)
    above = (table[base] - others.min(axis=1)).sort_values(ascending=False, kind="stable")
    above_by = [f"{name} by {over:.3f} ({others.loc[name].idxmin()})" for name, over in above.items() if over > by]
    return (
        f"At {price}, {base} costs least on {(above <= 1e-9).sum()} of {number(len(above), 'set')}. "
        f"By more than {by:g} it is above the least on {len(above_by)}: {', '.join(above_by) or 'none'}."
    )


def summary(frame: pd.DataFrame, base: str) -> str:
    """Markdown: cost and difference of each method at all prices at which several are recorded."""
    by_price = {
        price: {row.method: row for row in differences(frame, price, base)} for price in frame["price"].unique()
    }
    by_price = {price: rows for price, rows in by_price.items() if len(rows) > 1}
    prices = list(by_price)
    heads = [f"{price}, {number(next(iter(rows.values())).n_sets, 'set')}" for price, rows in by_price.items()]
    methods = list(by_price[prices[0]])
    lines = [
        f"| mean cost | {' | '.join(heads)} | CPU seconds |",
        "|---|" + "---|" * len(prices) + "---:|",
    ]
    for method in methods:
        cells = []
        for price in prices:
            difference = by_price[price].get(method)
            apart = "" if method == base or difference is None else f", {difference.mean:+.3f} ± {difference.half:.3f}"
            cells.append("" if difference is None else f"{difference.cost:.3f}{apart}")
        seconds = by_price[prices[0]][method].seconds
        lines.append(f"| {method} | {' | '.join(cells)} | {seconds:.1f} |")
    return "\n".join(lines)
