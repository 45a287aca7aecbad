"""A model's card: what it is for, what it was learnt from, what it costs, and what is promised, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray
from seqclass._utils.text import money, range_text, visible
from seqclass.agent.agent import Agent, agent_of, feature_name, names_at_start
from seqclass.evaluation.contract import CertifiedError, classifier_of
from seqclass.fitting.held_out import HeldOut

#: What Markdown takes for more than a letter.
_SIGNS = re.compile(r"([\\`*_\[\]<>|#~&])")


def model_card(classifier: BaseSequentialClassifier | CertifiedError) -> str:
    """Return a model's card in Markdown: intended use, data, costs, calibration, limits and contract.

    Parameters
    ----------
    classifier : SequentialClassifier, AdaptiveClassifier or CertifiedError
        A fitted classifier, or what `seqclass.certify_error` returned; the card then states what that promises.

    Returns
    -------
    str
        Markdown with headings, to be edited: what the model itself cannot know is said to be missing.

    Raises
    ------
    ValueError
        If nothing was certified, so that there is no classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import SequentialClassifier
    >>> clf = SequentialClassifier().fit(*load_iris(return_X_y=True), held_out=5)
    >>> [line for line in model_card(clf).splitlines() if line.startswith("#")][:3]
    ['# Model card', '## Intended use', '## Data']
    """
    clf, contract = classifier_of(classifier)
    agent, held_out = agent_of(clf), vars(clf).get("held_out_")
    decisions, unit = ", ".join(map(_plain, agent.decisions.tolist())), agent.unit
    asked = [_plain(feature_name(agent, column)) for column in agent.order.tolist()]
    known = list(map(_plain, names_at_start(agent)))
    asks = (
        f"It asks for one feature after the other, up to {clf.policy_.n_stages} of {len(asked)}, and decides once the "
    )
    asks = f"{asks}next is expected to save less than it costs." if asked else "It decides at once."
    parts = [
        f"# Model card{f': {_plain(agent.target_name)}' if agent.target_name else ''}",
        "## Intended use",
        f"It decides for one of: {decisions}. {asks}",
        f"May be asked for: {', '.join(asked) or 'nothing'}."
        + (f" Known before: {', '.join(known)}." if known else ""),
        "Who may use it, and for whom it is not meant: not said yet.",
        "## Data",
        *_data(clf),
        "## Costs",
        f"{_prices(agent, unit)} Costs of decisions (column) for each true class (row)"
        f"{f', in {_plain(unit)}' if unit else ''}:",
        _table(
            ["", *map(_plain, agent.decisions.tolist())],
            ([_plain(c), *map(money, row)] for c, row in zip(agent.classes.tolist(), clf.decision_costs_)),
        ),
        f"By its own model a case costs {money(clf.expected_cost_, unit)} on average.",
        *_describe_held_out(held_out, unit),
        "## Calibration",
        _calibration(clf, held_out, unit),
        "## Limits",
        "It holds for cases like those that it was learnt from. Numbers outside of what training showed are taken as "
        "the nearest that it did; a share of classes that changes needs `with_prior`, prices that change `with_costs`, "
        "and a change of the features a new fit (`seqclass.drift` notices it).",
        "## Contract",
        _plain(str(contract))
        if contract is not None
        else "Nothing is certified about its errors (`seqclass certify`).",
        *([_plain(str(agent.differential))] if agent.differential is not None else []),
    ]
    return "\n\n".join(parts) + "\n"


def _plain(text: object) -> str:
    """A text from data, of which Markdown makes nothing."""
    return _SIGNS.sub(r"\\\1", " ".join(visible(str(text)).split()))


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def _prices(agent: Agent, unit: str) -> str:
    prices = agent.prices.take(agent.order)
    if not prices.full.size:
        return "No feature is asked for."
    text = f"A feature costs {_span(prices.full, unit)}."
    lower = prices.discounted[prices.discounted < prices.full]
    text = f"{text[:-1]}, and {_span(lower, unit)} once another of its group was acquired." if lower.size else text
    after = _span(np.array([one.price for one in prices.after]), unit)
    return f"{text} Where others were answered before it may be {after}." if prices.after else text


def _span(prices: FloatArray, unit: str) -> str:
    ends = [money(float(one), unit) for one in (prices.min(initial=np.inf), prices.max(initial=-np.inf))]
    return "nothing" if not prices.size else ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _data(clf: BaseSequentialClassifier) -> list[str]:
    origin = vars(clf).get("provenance_")
    prior = ", ".join(f"{_plain(c)} {100 * p:.1f}%" for c, p in zip(clf.classes_.tolist(), clf.problem_.prior))
    if origin is None:
        return ["Where it comes from was not kept.", f"Classes: {prior}."]
    lines = [f"{'Learnt' if origin.n_rows else 'Planned'} {_plain(origin)}. Classes: {prior}."]
    if origin.digest:
        lines.append(f"SHA-256 of the file: {origin.digest}.")
    return [*lines, "Versions: " + ", ".join(f"{name} {number}" for name, number in origin.versions) + "."]


def _describe_held_out(held_out: HeldOut | None, unit: str) -> list[str]:
    if held_out is None:
        return ["What it costs on rows that the fit had not seen was not measured."]
    rows = [
        [
            "this classifier" if one is held_out else one.name.lower(),
            money(one.cost, unit),
            range_text(one.cost_interval, lambda end: money(end, unit)),
            f"{one.error:.4f}",
            f"{one.n_features:.2f}",
        ]
        for one in (held_out, held_out.deciding_at_once, held_out.linear)
        if one is not None
    ]
    heading = f"On {held_out.n_rows:,} rows that the fit had not seen, {held_out.n_folds} folds:"
    return [heading, _table(["held out", "cost", "95% interval", "error", "features"], rows)]


def _calibration(clf: BaseSequentialClassifier, held_out: HeldOut | None, unit: str) -> str:
    calibration = agent_of(clf).calibration
    text = "Its answers are trusted as the model has them."
    if calibration is not None:
        text = f"{_plain(repr(calibration)[1:-1])}."
    if held_out is None:
        return text
    lower, upper = held_out.cost_interval
    verdict = "which is within the interval" if lower <= upper else "and there is no interval to hold it against"
    if held_out.expected_cost < lower:
        verdict = "which is below that interval: it is too sure of itself"
    elif held_out.expected_cost > upper:
        verdict = "which is above that interval: it is less sure of itself than it might be"
    return f"{text} It expects a cost of {money(held_out.expected_cost, unit)}, {verdict}."
