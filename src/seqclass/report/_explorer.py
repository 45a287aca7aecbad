"""The explorer's part of the page: controls, and the explanations as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seqclass._text import saving_text, value_text
from seqclass.experiment import Explored
from seqclass.explanation import Explanation, ExplanationStep
from seqclass.report._markup import Markup, element, script_json
from seqclass.report.explore import ExploredRun

_CONTROLS = Markup("""
<div class="explorer" hidden>
<div class="choose">
<label>Classifier <select data-part="set"></select></label>
<label>Instance <select data-part="case"></select></label>
<span><button type="button" data-part="earlier">Previous instance</button>
<button type="button" data-part="later">Next instance</button></span>
</div>
<p class="note" data-part="note"></p>
<div class="steps">
<button type="button" data-part="previous">Previous step</button>
<button type="button" data-part="next">Next step</button>
<label>Step <input type="range" min="0" max="0" step="1" value="0" data-part="slider"></label>
</div>
<div class="told" role="status" aria-live="polite" data-part="told"></div>
<div class="panes">
<div>
<h3 id="belief-heading">Belief</h3>
<dl class="beliefs" aria-labelledby="belief-heading" data-part="beliefs"></dl>
<p class="note">A bar is the probability of a class, its mark the one before this step.
<span data-part="others"></span></p>
</div>
<div>
<h3 id="asked-heading">Asked</h3>
<ol class="way-list" start="0" aria-labelledby="asked-heading" data-part="list"></ol>
</div>
</div>
<p class="note">The arrow keys, Home and End step through an instance as well.</p>
</div>
""")


def explorer_section(explored: ExploredRun) -> Markup:
    """Section in which the reader steps through instances.

    Parameters
    ----------
    explored : ExploredRun
        Explained instances by the name of their method, and what is to be said of them.

    Returns
    -------
    Markup
    """
    heading = element("h2", "Step through instances")
    note = element("p", explored.note, class_="note") if explored.note else ""
    if not explored.methods:
        return element("section", heading, note, id="explorer")
    without = element("noscript", element("p", "Stepping through instances needs JavaScript."))
    data = script_json([_set(name, one) for name, one in explored.methods.items()])
    held = element("script", data, type="application/json", id="explored")
    return element("section", heading, without, note, _CONTROLS, held, id="explorer")


def _set(name: str, explored: Explored) -> dict[str, Any]:
    first = explored.explanations[0]
    n = len(explored.explanations)
    rows = range(1, n + 1) if explored.rows is None else explored.rows
    truth: Sequence[Any] = [None] * n if explored.truth is None else explored.truth
    return {
        "name": name,
        "note": explored.note,
        "classes": [str(label) for label in first.classes],
        "cases": [_case(*parts) for parts in zip(explored.explanations, rows, truth)],
    }


def _case(explanation: Explanation, row: Any, truth: Any) -> dict[str, Any]:
    asked = len(explanation.steps)
    title = f"Row {row}: {explanation.decision}, {asked} asked"
    decided = explanation.decision_text
    if truth is not None:
        right = str(truth) == str(explanation.decision)
        title += "" if right else f" (in truth {truth})"
        decided += f" In truth it is {truth}."
    return {
        "title": title,
        "prior": _rounded(explanation.prior),
        "steps": [_step(step) for step in explanation.steps],
        "stop": explanation.stop_text,
        "decided": decided,
    }


def _step(step: ExplanationStep) -> dict[str, Any]:
    shown = None if step.missing else value_text(step.value)
    return {
        "name": step.name,
        "shown": shown,
        "label": None if step.missing or step.label == shown else step.label,
        "price": f"{step.price:.4g}",
        "paid": f"{step.paid:.4g}",
        "saving": saving_text(step.expected_saving, step.price),
        "after": _rounded(step.after),
    }


def _rounded(belief: Sequence[float]) -> list[float]:
    """Probabilities of six significant digits: a page of many instances stays small."""
    return [float(f"{p:.6g}") for p in belief]
