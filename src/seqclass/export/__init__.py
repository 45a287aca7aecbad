"""A fitted policy as data: a page to work through cases offline, JSON, or C."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from seqclass._shell import DecidingClassifier
from seqclass._utils.files import replacing
from seqclass._utils.text import unit_text
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.deciding.decider import decider_of
from seqclass.export._c import c_source
from seqclass.export._data import as_data
from seqclass.report._markup import Markup, document, element, resource, script_json, together

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
    min_probability: float | None = None,
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
    ('program', 30)
    """
    check_choice(format, "format", ("html", "json", "c"))
    data = policy_data(classifier, max_nodes=max_nodes, min_probability=min_probability)
    if format == "html":
        text: str = _page(data, Path(path).stem if title is None else title)
    elif format == "json":
        text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
    else:
        text = c_source(data)
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", errors="backslashreplace"))
    return data


def policy_data(
    classifier: DecidingClassifier, *, max_nodes: int = MAX_NODES, min_probability: float | None = None
) -> dict[str, Any]:
    """Return what a classifier asks and decides as plain data.

    A policy of a model with hidden states (naive Bayes, class mixtures, contexts) is written as its *program*: tables,
    prices, what it asks next, and when it stops. Any feature may then be answered at any time. Any other (trees,
    networks, plans by context) is written as a *graph* of all cases it can meet, which has a limit of nodes, and takes
    answers in the order in which it asks.

    Parameters
    ----------
    classifier : SequentialClassifier or AdaptiveClassifier
        A fitted classifier.
    max_nodes : int
        Most nodes of a graph.
    min_probability : float, optional
        For a graph: cases less probable than this are followed no further; there it says what to decide as things
        stand, and that it is cut. In this probability 5% of all answers are missing. By default as small as the nodes
        allow, and a ValueError if less than 99% of cases were followed to their end; 0 follows all.

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
    >>> data["kind"], data["program"]["any_order"], data["questions"][2]["name"]
    ('program', True, 'x2')
    """
    if not isinstance(classifier, DecidingClassifier):
        raise TypeError(
            f"classifier must be a fitted SequentialClassifier or AdaptiveClassifier, got {type(classifier).__name__}."
        )
    check_integer(max_nodes, "max_nodes", 1)
    if min_probability is not None:
        min_probability = check_real(min_probability, "min_probability", 0.0, 1.0)
    return as_data(decider_of(classifier), max_nodes, min_probability)


_ORDER = "This page takes answers in the order in which it asks. "
_CUT = (
    "For about {} this page stops asking early, since their answers are so rare; it then says so, and tells what to "
    "decide on what is known. "
)


def _page(data: dict[str, Any], title: str) -> Markup:
    """Put the page together."""
    style = together(resource("page.css"), _resource("page.css"))
    scripts = [_resource("policy.js"), _resource("page.js")]
    header = element("header", element("h1", title), element("p", _about(data), class_="note"))
    other = _resource("other.html") if data["kind"] == "program" else Markup("")
    main = element("main", Markup(_resource("page.html").replace("OTHER\n", other)))
    held = element("script", script_json(data), type="application/json", id="policy")
    footer = element("footer", element("p", f"Written by {data['written_by']}."))
    return document(title, style, scripts, header, main, footer, held, limits="form-action 'none'; ")


def _about(data: dict[str, Any]) -> str:
    """What the reader has to know first."""
    counted = data["unit"] or (unit_text(data["decision_costs"]) and "units of a wrong decision's cost")
    unit = f"Prices and costs are in {counted}. " if counted else ""
    limits = "" if data["kind"] == "program" else _ORDER + (_CUT.format(cut_share(data["cut"])) if data["cut"] else "")
    return (
        f"It asks for one feature after the other and decides between {_either(data['decisions'])}. {limits}"
        f"{unit}What you enter stays on this page: nothing is sent, and nothing is kept when you leave."
    )


def cut_share(cut: float) -> str:
    """A share of cases as people count them."""
    for of in (100, 1000, 10_000):
        if cut * of >= 1:
            return f"{round(cut * of)} in {of:,} cases"
    return "fewer than 1 in 10,000 cases"


def _either(names: list[str]) -> str:
    if len(names) > 6:
        return f"{len(names)} decisions"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _resource(name: str) -> Markup:
    return resource(name, __package__)
