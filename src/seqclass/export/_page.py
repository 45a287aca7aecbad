"""The page of a policy: one HTML file that loads nothing."""

from __future__ import annotations

from typing import Any

from seqclass._utils.text import unit_text
from seqclass.report._markup import Markup, element, resource, script_json, source_hash, together

_ORDER = "This page takes answers in the order in which it asks. "
_CUT = "Rare cases are not followed to their end: {:.2g} of all that it may meet, were 5% of all answers missing. "


def page(data: dict[str, Any], title: str) -> Markup:
    """Put the page together."""
    style = together(resource("page.css"), _resource("page.css"))
    scripts = [_resource("policy.js"), _resource("page.js")]
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {source_hash(style)}; "
        f"script-src {' '.join(map(source_hash, scripts))}"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", style),
    )
    header = element("header", element("h1", title), element("p", _about(data), class_="note"))
    other = _resource("other.html") if data["kind"] == "values" else Markup("")
    main = element("main", Markup(_resource("page.html").replace("OTHER\n", other)))
    held = element("script", script_json(data), type="application/json", id="policy")
    footer = element("footer", element("p", f"Written by {data['written_by']}."))
    code = [element("script", script) for script in scripts]
    whole = element("html", head, "\n", element("body", header, main, footer, held, "\n", *code), lang="en")
    return together(Markup("<!DOCTYPE html>\n"), whole, "\n")


def _about(data: dict[str, Any]) -> str:
    """What the reader has to know first."""
    unit = "Prices and costs are in units of a wrong decision's cost. " if unit_text(data["decision_costs"]) else ""
    limits = "" if data["kind"] == "values" else _ORDER + (_CUT.format(data["cut"]) if data["cut"] else "")
    return (
        f"It asks for one feature after the other and decides between {_either(data['decisions'])}. {limits}"
        f"{unit}What you enter stays on this page: nothing is sent, and nothing is kept when you leave."
    )


def _either(names: list[str]) -> str:
    if len(names) > 6:
        return f"{len(names)} decisions"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _resource(name: str) -> Markup:
    return resource(name, __package__)
