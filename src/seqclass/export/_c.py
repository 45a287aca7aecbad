"""The source of a policy in C99: its tables, and the code that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from math import comb
from typing import Any

from seqclass.report._markup import resource

_TYPES = {"number": 0, "category": 1, "outcome": 2}
_HEAD = """\
/* What a classifier asks and decides, written by {by}: C99, no allocation, no global state.
   Include this file in one source file, or compile it and declare the functions below elsewhere.

   seq_case c;
   int feature;
   seq_begin(&c);
   while ((feature = seq_question(&c)) != SEQ_DECIDE)
       seq_answer(&c, feature, seq_outcome(feature, measure(feature)));
   decide(seq_decision(&c), seq_cost_of(c), seq_belief(&c));

   {order} */
#include <math.h>
#include <string.h>

"""
_ORDER = {
    "values": "Any feature may be answered at any time; seq_know does so at no cost.",
    "graph": "Features are answered in the order in which they are asked for; seq_is_cut tells where a rare case is "
    "not\n   followed further.",
}
_FUNCTIONS = """
#define seq_cost_of(c) ((c).cost)                           /* paid so far */
void seq_begin(seq_case *c);
int seq_question(const seq_case *c);                        /* feature to ask for, or SEQ_DECIDE */
double seq_price(const seq_case *c);                        /* of that feature */
double seq_saving(const seq_case *c);                       /* expected of asking, its price taken off; or NAN */
int seq_outcome(int feature, double value);                 /* of a number; SEQ_MISSING for NAN; or SEQ_WRONG */
int seq_category(int feature, const char *name);            /* of a category; or SEQ_WRONG */
int seq_answer(seq_case *c, int feature, int outcome);      /* 0, SEQ_WRONG or SEQ_IMPOSSIBLE: then nothing changes */
int seq_decision(const seq_case *c);                        /* as things stand */
double seq_expected_cost(const seq_case *c);                /* of that decision */
const double *seq_belief(const seq_case *c);                /* P(class | what was answered) */
const char *seq_feature_name(int feature);
const char *seq_class_name(int number);
const char *seq_decision_name(int decision);
"""
_ALSO = {
    "values": "int seq_know(seq_case *c, int feature, int outcome);        /* what is known and costs nothing */\n",
    "graph": "int seq_is_cut(const seq_case *c);\n",
}


def c_source(data: dict[str, Any]) -> str:
    """One file: sizes, declarations, tables, code."""
    kind = data["kind"]
    features = data["features"]
    sizes = {
        "FEATURES": len(features),
        "CLASSES": len(data["classes"]),
        "DECISIONS": len(data["decisions"]),
        "CHARGE_MISSING": int(data["charge_missing"]),
        "DECIDE": -1,
        "MISSING": -1,
        "OPEN": -2,
        "WRONG": -2,
        "IMPOSSIBLE": -3,
    }
    more, held, tables = (_values if kind == "values" else _graph)(data)
    defined = "".join(f"#define SEQ_{name} ({number})\n" for name, number in (sizes | more).items())
    struct = f"\ntypedef struct {{\n{held}    double cost;\n}} seq_case;\n"
    code = [resource(name, __package__) for name in ("common.c", f"{kind}.c")]
    head = _HEAD.format(by=data["written_by"].replace("*/", "* /"), order=_ORDER[kind])
    return "".join([head, defined, struct, _FUNCTIONS, _ALSO[kind], "\n", _reading(data), tables, "\n", *code])


def _reading(data: dict[str, Any]) -> str:
    """Names, and the tables by which values are read."""
    features = data["features"]
    edges = [feature.get("edges", []) for feature in features]
    names = [feature.get("categories", []) for feature in features]
    return "".join(
        [
            _texts("features", [feature["name"] for feature in features]),
            _texts("classes", data["classes"]),
            _texts("decisions", data["decisions"]),
            _table("int", "types", [_TYPES[feature["type"]] for feature in features]),
            _table("int", "outcomes", [feature["n_outcomes"] for feature in features]),
            _table("int", "edge_start", _starts(edges)),
            _table("double", "edges", _flat(edges)),
            _table("int", "places", _flat(feature.get("places", [0]) for feature in features)),
            # a null ends each list, where training showed no category
            _table("int", "category_start", _starts([[*some, None] for some in names])),
            _texts("categories", _flat([*some, None] for some in names)),
        ]
    )


def _values(data: dict[str, Any]) -> tuple[dict[str, int], str, str]:
    features, held = data["features"], data["values"]
    n_classes, stages = len(data["classes"]), held.get("stages", [])
    groups = [-1 if feature["group"] is None else feature["group"] for feature in features]
    more = {"STAGES": data["n_stages"], "GROUPS": max(groups, default=-1) + 1, "GRID": held.get("resolution", 0)}
    more["SURE"] = int(held["type"] == "sure")
    tables = [
        _table("double", "prior", data["prior"]),
        _table("double", "costs", _flat(data["decision_costs"]), len(data["decisions"])),
        _table("int", "group", groups),
        _table("double", "prices", [feature["price"] for feature in features]),
        _table("double", "full_prices", [feature["full_price"] for feature in features]),
        _table("int", "likelihood_start", _starts(data["likelihoods"])),
        _table("double", "likelihoods", _flat(_flat(data["likelihoods"])), n_classes),
    ]
    if more["SURE"]:
        tables.append(f"static const double seq_enough = {held['cost']!r};\n")
    elif more["GRID"]:
        steps, tails = held["resolution"], n_classes - 1
        rank = [comb(v + tails - 1 - i, tails - i) for i in range(tails) for v in range(steps + 2)]
        more["POINTS"] = comb(steps + tails, tails)
        tables.append(_table("int", "rank", rank, steps + 2))
        tables.append(_table("double", "values", _flat(stages), more["POINTS"]))
    else:
        tables.append(_table("double", "planned_prices", held["prices"]))
        tables.append(_table("int", "vector_start", _starts(stages)))
        tables.append(_table("double", "vectors", _flat(_flat(stages)), n_classes))
    parts = (
        f"    double belief[{n_classes}];\n    int seen[{len(features) or 1}];\n    char paid[{more['GROUPS'] or 1}];\n"
    )
    return more, parts, "".join(tables)


def _graph(data: dict[str, Any]) -> tuple[dict[str, int], str, str]:
    nodes, n_classes = data["nodes"], len(data["classes"])
    following = [[node["missing"], *node["next"]] if "ask" in node else [] for node in nodes]
    tables = [
        _table("int", "ask", [node.get("ask", -1) for node in nodes]),
        _table("double", "node_price", [node.get("price") for node in nodes]),
        _table("double", "node_saving", [node.get("saving") for node in nodes]),
        _table("int", "node_decision", [node["decision"] for node in nodes]),
        _table("double", "node_now", [node["cost_now"] for node in nodes]),
        _table("double", "node_belief", _flat(node["belief"] for node in nodes), n_classes),
        _table("char", "node_cut", [int(node.get("cut", False)) for node in nodes]),
        _table("int", "first", _starts(following)),
        _table("int", "next", [-1 if child is None else child for child in _flat(following)]),
    ]
    return {}, "    int node;\n", "".join(tables)


def _flat(lists: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(lists))


def _starts(lists: Sequence[Sequence[Any]]) -> list[int]:
    return [0, *accumulate(map(len, lists))]


def _table(kind: str, name: str, numbers: Sequence[Any], width: int = 0) -> str:
    """A constant array; C has none that are empty. With a width, one of rows."""
    told = ["NAN" if number is None else repr(number) for number in numbers] or ["0"] * max(width, 1)
    if width:
        told = [f"{{{_lines(told[i : i + width])}}}" for i in range(0, len(told), width)]
    size = f"[{len(told)}]" + (f"[{width}]" if width else "")
    inside = ",\n    ".join(told) if width else _lines(told)
    return f"static const {kind} seq_{name}{size} = {{\n    {inside}\n}};\n"


def _lines(told: list[str]) -> str:
    """Ten numbers a line."""
    return ",\n    ".join(", ".join(told[i : i + 10]) for i in range(0, len(told), 10))


def _texts(name: str, texts: Sequence[str | None]) -> str:
    told = [f"    {'0' if text is None else _quoted(text)}" for text in texts] or ["    0"]
    return f"static const char *const seq_{name}[{len(told)}] = {{\n" + ",\n".join(told) + "\n};\n"


def _quoted(text: str) -> str:
    """A string literal: what is not plain is written byte by byte, so nothing in it ends it or is a trigraph."""
    plain = set(range(32, 127)) - set(b'"\\?')
    data = text.encode("utf-8", errors="backslashreplace")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in data) + '"'
