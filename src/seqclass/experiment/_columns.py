"""Columns of the table of results, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from seqclass._utils.text import near, short_repr
from seqclass.experiment._scores import QUANTILES

#: What names a cell.
LABELS = ("data", "method", "price", "budget", "seed", "fold")
#: Scores of which more is better; of all others less is.
HIGHER_IS_BETTER = frozenset({"accuracy", "macro_f1", "sensitivity", "specificity", "auroc"})
#: What each method's own model says of its own policy, about which nothing follows for another method.
BY_OWN_MODEL = frozenset({"expected_cost", "expected_n_features", "lower", "upper", "gap"})
_SPREAD = ("mean", *(f"q{round(100 * q):02d}" for q in QUANTILES), "max")
_SECONDS = (
    *("discretize", "filter", "structure", "parameters", "order", "solve", "certify"),
    *("preprocess", "learn", "fit", "classify", "total"),
)
#: Figures, floats all.
FIGURES = (
    *("realised_cost", "accuracy", "referred", "macro_f1", "sensitivity", "specificity"),
    *("auroc", "log_loss", "calibration_error"),
    *(f"n_features_{part}" for part in _SPREAD),
    *(f"paid_{part}" for part in _SPREAD),
    *("expected_cost", "expected_n_features", "lower", "upper", "gap"),
    *(f"seconds_{step}" for step in _SECONDS),
    "peak_mb",
)
_SCOPES = {"order": "the method's own order"}
_COUNTS = ("n_train", "n_test", "n_columns")
_TEXTS = (
    "status",
    "scope",
    "version_seqclass",
    "version_numpy",
    "version_sklearn",
    "version_python",
    "warnings",
    "error",
)
COLUMNS = (*LABELS, *FIGURES, *_COUNTS, *_TEXTS)


def check_row(labels: Any, result: Any) -> dict[str, Any]:
    """Labels and result of a cell together, if they are of the kinds that they should be."""
    if not (isinstance(labels, dict) and isinstance(result, dict)):
        raise ValueError("holds no table")
    kinds: dict[str, tuple[type, ...]] = {"data": (str,), "method": (str,), "price": (int, float)}
    kinds["budget"] = (int, type(None))
    kinds |= dict.fromkeys(("seed", "fold"), (int,)) | dict.fromkeys(_TEXTS, (str, type(None)))
    kinds |= dict.fromkeys(FIGURES, (int, float, type(None))) | dict.fromkeys(_COUNTS, (int, type(None)))
    for name in (*LABELS, "error"):
        if name not in labels | result:
            raise ValueError(f"lacks {name}")
    for name, value in (labels | result).items():
        whole = isinstance(value, int) and (isinstance(value, bool) or abs(value) > 2**62)
        # the square of a figure is a number still: costs end at 1e100
        huge = isinstance(value, float) and abs(value) >= 1e150
        if name in kinds and (whole or huge or not isinstance(value, kinds[name])):
            raise ValueError(f"holds {short_repr(value)} as {name}")
    return labels | result


def by_default(table: Any) -> list[str]:
    """What a summary tells apart: data, method and price, and the hard budget where there is any."""
    return [*LABELS[:3], *(["budget"] if table["budget"].notna().any() else [])]


def own_model_text(cells: Any) -> str:
    """Whose model figures are by, and of which method about which policies, where they are certified."""
    known = cells[cells["scope"] != ""].drop_duplicates(["method", "scope"]).groupby("scope", sort=False)["method"]
    parts = [f"over {_SCOPES.get(scope, scope)} ({', '.join(names)})" for scope, names in known]
    return f"by each method's own model{', certified ' if parts else ''}{' and '.join(parts)}"


def table_of(results: Mapping[str, dict[str, Any]]) -> Any:
    """Table of results, a row a cell."""
    import pandas as pd

    index = pd.Index(list(results), name="key", dtype=object)

    def column(name: str) -> Any:
        values = list(map(methodcaller("get", name), results.values()))
        if name in _COUNTS:
            return pd.array(values, dtype="Int64")
        if name in _TEXTS:
            return pd.Series([value or "" for value in values], index, dtype=object)
        if name in ("seed", "fold"):
            return np.array(values, dtype=np.int64)
        return values if name in ("data", "method") else np.array(values, dtype=np.float64)

    return pd.DataFrame({name: column(name) for name in COLUMNS}, index)


def check_columns(names: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    """Names of columns, one or several, all known."""
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in known:
            raise ValueError(f"{what}: there is no {name!r}; {near(name, list(known), 'there are')}")
    if not chosen:
        raise ValueError(f"{what} must name at least one column.")
    return chosen
