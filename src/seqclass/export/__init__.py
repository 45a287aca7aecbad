"""A fitted policy as data: a page to work through cases offline, JSON, or C."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from seqclass._shell import DecidingClassifier
from seqclass._utils.files import replacing
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.export._c import c_source
from seqclass.export._data import as_data
from seqclass.export._page import page

__all__ = ["export_policy", "policy_data"]

#: Most nodes of a decision graph, unless told.
MAX_NODES = 20_000


def export_policy(
    classifier: DecidingClassifier,
    path: str | os.PathLike[str],
    *,
    format: str = "html",
    title: str | None = None,
    max_nodes: int = MAX_NODES,
    min_probability: float = 0.0,
) -> dict[str, Any]:
    """Write what a classifier asks and decides to a file that needs no Python.

    Questions, beliefs, prices, expected savings and decisions are those of `SequentialClassifier.session`.

    Parameters
    ----------
    classifier : SequentialClassifier or AdaptiveClassifier
        A fitted classifier.
    path : path
        The file. It is written whole or not at all, and replaces a file that is there.
    format : {"html", "json", "c"}
        A page to work through cases with, which needs neither a server nor a network; the data of `policy_data`; or C99
        that allocates nothing.
    title : str, optional
        Title of the page; by default the name of the file without its ending.
    max_nodes, min_probability : optional
        See `policy_data`.

    Returns
    -------
    dict
        What was written, as `policy_data` gives it.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If the policy cannot be written as data, or not within the limits; the message says what to do.
    FileNotFoundError
        If the folder does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import SequentialClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = SequentialClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = export_policy(clf, Path(folder) / "page.html")
    ...     "<!DOCTYPE html>" in (Path(folder) / "page.html").read_text(encoding="utf-8")
    True
    >>> data["kind"], len(data["features"])
    ('values', 30)
    """
    check_choice(format, "format", ("html", "json", "c"))
    data = policy_data(classifier, max_nodes=max_nodes, min_probability=min_probability)
    if format == "html":
        text: str = page(data, Path(path).stem if title is None else title)
    elif format == "json":
        text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
    else:
        text = c_source(data)
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", errors="backslashreplace"))
    return data


def policy_data(
    classifier: DecidingClassifier, *, max_nodes: int = MAX_NODES, min_probability: float = 0.0
) -> dict[str, Any]:
    """Return what a classifier asks and decides as plain data.

    A policy of a fixed order whose features are independent given the class (naive Bayes) is written as its tables and
    values: any feature may then be answered at any time. Any other is written as a graph of all cases it can meet,
    which has a limit of nodes, and takes answers in the order in which it asks.

    Parameters
    ----------
    classifier : SequentialClassifier or AdaptiveClassifier
        A fitted classifier.
    max_nodes : int
        Most nodes of a graph.
    min_probability : float
        Cases less probable than this are followed no further: there a graph says what to decide as things stand, and
        that it is cut. In this probability 5% of all answers are missing. 0 follows all.

    Returns
    -------
    dict
        Lists, dicts, numbers and texts, as JSON holds them; the page on export in the documentation has its keys.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If the policy cannot be written as data, or not within the limits; the message says what to do.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import SequentialClassifier
    >>> clf = SequentialClassifier(order="adaptive").fit(*load_iris(return_X_y=True))
    >>> data = policy_data(clf)
    >>> data["kind"], data["features"][data["nodes"][0]["ask"]]["name"]
    ('graph', 'x2')
    """
    if not isinstance(classifier, DecidingClassifier):
        raise TypeError(
            f"classifier must be a fitted SequentialClassifier or AdaptiveClassifier, got {type(classifier).__name__}."
        )
    check_is_fitted(classifier, "policy_")
    check_integer(max_nodes, "max_nodes", 1)
    check_real(min_probability, "min_probability", 0.0, 1.0)
    return as_data(classifier, max_nodes, float(min_probability))
