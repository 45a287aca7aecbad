"""The tables of the suite in the documentation, by the data."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from benchmarks.suite import standing
from benchmarks.suite.methods import OURS
from benchmarks.suite.sets import MANIFEST

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
#: The pages with tables of the suite.
PAGES = (DOCS / "suite.md", DOCS / "results.md")
PUBLISHED, EXAMPLE = HERE / "published.csv", HERE / "lasso_threshold.py"
#: What stands between two marks is printed.
BLOCK = re.compile(r"(<!-- suite: (?P<what>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(page: str, frame: pd.DataFrame) -> str:
    """A page with its tables as the data say."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{block(match['what'], frame)}\n\n{match[3]}", page)


def block(what: str, frame: pd.DataFrame) -> str:
    """What stands at a mark."""
    kind, _, price = what.partition(" ")
    if kind == "sets":
        return sets_table(frame)
    if kind == "example":
        return f"```python\n{EXAMPLE.read_text('utf-8')}```"
    if kind == "summary":
        return standing.summary(frame, OURS)
    if kind == "published":
        return published_table()
    return standing.by_price_table(frame, price, OURS) if kind == "methods" else standing.by_set_table(frame, price)


def sets_table(frame: pd.DataFrame) -> str:
    """Each set, and which folds of it are recorded at which prices."""
    sets = pd.read_csv(MANIFEST, dtype=str).fillna("")
    own = standing.complete(frame)
    n = own.groupby(["set", "price"])["fold"].nunique()
    sets["folds"] = [
        ", ".join(f"{count} at {price}" for price, count in n[name].items()) if name in n.index else "none yet"
        for name in sets["set"]
    ]
    return table(sets.drop(columns="fingerprint"))


def published_table() -> str:
    """A line a set and method: what is reached at each budget."""
    published = pd.read_csv(PUBLISHED, dtype=str).fillna("-")
    published["reached"] = published["value"] + " (" + published["budget"] + ")"
    keys = ["set", "method", "measure", "seconds", "source"]
    joined = published.groupby(keys, sort=False)["reached"].agg(", ".join).reset_index()
    return table(joined[["set", "method", "measure", "reached", "seconds", "source"]])


def table(frame: pd.DataFrame) -> str:
    """A data frame of texts in Markdown."""
    head = [f"| {' | '.join(frame.columns)} |", "|" + "---|" * frame.shape[1]]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in frame.itertuples(index=False))])
