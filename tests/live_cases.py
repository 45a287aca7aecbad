"""Live cases, a row at a time, against what is done with whole batches."""

from __future__ import annotations

import functools
import re
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

#: Models of `tests/export/conftest.py` whose page and C source are held against a session.
EXPORTED = [
    *("grid2", "grid3", "spelt", "vectors", "sure", "tree", "adaptive", "mixture", "discounts", "discounts, charged"),
    *(
        "fixed mixture",
        "refer",
        "refer, adaptive",
        "bundles",
        "drawn bundle",
        "contexts",
        "ladder",
        "ladder, constant",
        "calibrated",
        "ec2",
    ),
    *("expected saving", "given order", "looking ahead", "improved", "first", "likely", "lookahead", "fixed lookahead"),
    *(
        "search",
        "search, groups",
        "search, budgets",
        "few of many",
        "listed, groups",
        "listed, max_features",
        "listed, max_cost",
        "bounds",
        "groups",
        "max_features",
        "max_cost",
        "thresholds",
        "functions",
        "known first",
        "items",
    ),
    *(
        "hidden information",
        "cross entropy",
        "skills",
        "known at the start",
        "known at the start, mixture",
        "known at the start, fixed tree",
    ),
    *("visits", "visits, planned", "visits, fixed order", "visits, bundles", "visits, budgets", "visits, ladder"),
    "visits, ladder, constant",
    *(
        "visits, tree",
        "network",
        "network, known at the start",
        "tree, any order",
        "tree, improved",
        "tree, calibrated",
    ),
    *("fixed tree, lookahead", "fixed tree, corrected", "graph", "missing tells", "missing tells, fixed tree"),
    *("missing tells, known at the start", "missing tells, mixture, calibrated", "missing tells, visits"),
    *("sets", "sets, missing tells", "sets, visits"),
    *("areas, ladder", "skips, missing tells, known"),
]
#: More of a kind.
_MORE = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in (
        *("discounts, vectors", "fixed drawn bundle", "first open"),
        *("bounds of 3", "visits, pairs", "visits, once", "visits, three classes", "visits, one at a time"),
        *("visits, planned ladder", "visits, ladder of one", "network, joint targets", "tree, search", "tree, ladder"),
        *("clique, likely", "fixed tree, corrected functions", "fixed tree, vectors", "missing tells, bundles"),
        *("missing tells, tree, known", "missing tells, fixed tree, known"),
        *("missing tells, visits, bundles", "missing tells, max_cost", "missing tells, max_features"),
        *("known at the start, fixed mixture", "sets, tree", "listed"),
        *("areas", "areas, groups", "areas, max_cost", "areas, likely", "areas, looking ahead", "areas, search"),
        *("areas, bounds", "areas, tree", "areas tied by enemies", "areas, improved", "areas, lookahead", "skips"),
        *("skips, tree", "skips, search", "skips, ladder, known", "skips, fixed order"),
        *("marks", "marks, mixture", "marks, skips", "marks, tree", "marks, fixed tree", "marks, fixed mixture"),
        *("prices after", "prices after, ladder", "prices, marks, skips", "prices, marks, search"),
        *(
            "prices, marks, known",
            "no decision is free",
            "search, ladder",
            "graph, a wait",
            "search, groups, a wait, max_cost",
        ),
        "fixed order, a visit each, max_cost",
    )
]
#: What the command line makes of data, or of a network, without options: the default way to its end; and `ifc2f`.
DEFAULTS = [
    pytest.param("ifc2f", marks=pytest.mark.slow),
    *(pytest.param(f"default, {name}", marks=pytest.mark.slow) for name in ("heart", "tumours", "spambase", "hepar2")),
]
#: All of them.
EVERY = [*EXPORTED, *_MORE, *DEFAULTS]
#: Whose sources between them run each line and branch of the C that those of all others of `EXPORTED` run, as gcov
#: counts them; what all others ask and decide is held against a session in plain Python.
WIDEST = {
    "spelt",
    "vectors",
    "sure",
    "mixture",
    "ladder",
    "expected saving",
    "given order",
    "looking ahead",
    "first",
    "likely",
    "search, budgets",
    "listed, groups",
    "listed, max_features",
    "listed, max_cost",
    "missing tells, visits",
    "bounds",
    "thresholds",
    "functions",
    "known first",
    "skills",
    "hidden information",
    "known at the start, fixed tree",
    "visits",
    "visits, fixed order",
    "visits, bundles",
    "visits, budgets",
    "visits, ladder",
    "visits, tree",
    "network, known at the start",
    "tree, any order",
    "tree, improved",
    "graph",
    "sets, visits",
    "areas, ladder",
}
#: Those of them whose sources between them run each line, whichever ways its conditions go.
SOURCES = WIDEST - {
    *("sure", "ladder", "listed, groups", "listed, max_cost", "missing tells, visits", "visits, budgets"),
    "network, known at the start",
}
#: Those whose pages between them run each block of the script that the pages of all of `EXPORTED` run, as Chromium
#: counts them, and those of which the page has something of its own to tell.
PAGES = {
    *WIDEST,
    "few of many",
    "fixed lookahead",
    "network",
    "refer",
    "refer, adaptive",
    "sets",
    "sets, missing tells",
}
PAGES |= {*(name for name in EXPORTED if name.startswith("visits"))}
#: Those that are a graph.
GRAPHS = ("graph", "graph, a wait")


@functools.cache
def reader(name="Reader"):
    """The class that reads programs in plain Python, or another part of that example."""
    script = Path(__file__).parents[1] / "examples" / "read_policy.py"
    if not script.exists():
        pytest.skip("no examples beside the tests: not a checkout")
    return runpy.run_path(str(script))[name]


@functools.cache
def short_reader():
    """The class by which the documentation tells how the usual program is read."""
    page = Path(__file__).parents[1] / "docs" / "format.md"
    if not page.exists():
        pytest.skip("no docs beside the tests: not a checkout")
    code = re.search(r"```python\n(import math\n.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(code[1], names)
    return names["Policy"]


def row_by_row(clf, X, known):
    """Decisions, costs, counts and posteriors of sessions, which were told what is known."""
    found = []
    for number, row in enumerate(X):
        session = clf.session(key=number, known={f"x{j}": row[j] for j in known})
        while (question := session.next_feature) is not None:
            columns = [part.column for part in question.features] or [question.column]
            values = {f"x{j}": row[j] for j in columns if not np.isnan(row[j])}
            if not values:
                session.unavailable(question.name)
            else:
                session.observe(question.name, values if question.features else next(iter(values.values())))
        asked = [a for a in session.history if not a.known]
        found.append((session.decision, session.paid, sum(a.outcome >= 0 for a in asked), session.posterior))
    return [np.array(column) for column in zip(*found)]


#: Missing the ill is worse by far than a false alarm, and a doubt may be referred.
DOUBT_COSTS = np.array([[0.0, 4.0, 0.6], [1.0, 0.0, 0.6]])


def doubtful(n):
    """Ill and well, of whom three tests tell something, for decisions that cost `DOUBT_COSTS`."""
    rng = np.random.default_rng(7)
    y = np.where(rng.random(n) < 0.4, "ill", "well")
    told = np.where(y == "ill", 1.0, 0.0)
    return pd.DataFrame({f"test {j}": told + rng.normal(0, 0.6 + 0.2 * j, n) for j in range(3)}), y
