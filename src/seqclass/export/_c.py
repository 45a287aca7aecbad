"""The source of a policy in C99: its tables, and the code that reads them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from textwrap import indent, wrap
from typing import Any

from seqclass._utils.text import visible
from seqclass.pomdp.bounds.optimum import FEW
from seqclass.pomdp.solvers.exact_free_order import ANEW
from seqclass.pomdp.ties import budget_of
from seqclass.report._markup import resource

#: Types of features: a program knows each by its place.
_TYPES = ("number", "category", "outcome")
_ORDER = {
    "program": "Where visits cost something, seq_next_panel tells what to order together; answers come in any order.\n"
    "   Any question may be answered at any time; seq_know does so at no cost. To take an answer back keep a\n"
    "   copy of the case from before it. Of a question that shows several features at once seq_answer_all takes an\n"
    "   outcome for each, or SEQ_MISSING; they are features seq_feature_start[question] and following.",
    "graph": "Questions are answered in the order in which they are asked; seq_is_cut tells where a rare case is "
    "not\n   followed further.",
}
_LISTS = "\n   Costs are listed in static memory where an answer is missing: call it from one thread at a time."
#: What keeps compilers from a warning of long texts, which they take.
_LONG = '#ifdef __GNUC__\n#pragma GCC diagnostic ignored "-Woverlength-strings"\n#endif\n'


def _comment(text: str) -> str:
    """A text that ends no comment, and begins none."""
    return text.replace("*/", "* /").replace("/*", "/ *")


def c_source(data: dict[str, Any], promise: str) -> str:
    """One file: sizes, declarations, tables, code; and in words what is certified, if anything is."""
    kind = data["kind"]
    features = data["features"]
    sizes = {
        "FEATURES": len(features),
        "QUESTIONS": len(data["questions"]),
        "CLASSES": len(data["classes"]),
        "DECISIONS": len(data["decisions"]),
        "CHARGE_MISSING": int(data["charge_missing"]),
    }
    defines, fields, tables = (_program if kind == "program" else _graph)(data)
    defined = "".join(f"#define SEQ_{name} ({number})\n" for name, number in (sizes | defines).items())
    struct = f"\ntypedef struct {{\n{fields}    double spent;\n}} seq_case;\n"
    parts = {"network.c": kind == "program" and data["program"]["network"], "rules.c": defines.get("HAS_RULES")}
    names = ["common.c", *(name for name, wanted in parts.items() if wanted), f"{kind}.c"]
    code = [resource(name, __package__) for name in names]
    functions = [resource(name, __package__) for name in ("functions.c", f"functions_{kind}.c")]
    unit = f"#define SEQ_UNIT {_quote(data['unit'])} /* of prices and costs */\n"
    text = _comment(visible(data["provenance"]["text"]))
    origin = f"\n   Learnt {text}; its digest is {data['provenance']['model']}." if text else ""
    promise_lines = indent("\n".join(["\n", *wrap(promise, 110)]), "   ") if promise else ""
    lists = bool(defines.get("LISTED"))
    order, state = _ORDER[kind] + lists * _LISTS, "" if lists else ", no global state"
    head = str(resource("head.c", __package__)).format(
        by=data["written_by"], state=state, origin=origin, order=order, promise=_comment(promise_lines)
    )
    tables = _reading_tables(data) + tables
    long = _LONG if max(map(len, tables.splitlines())) > 4095 else ""  # bytes of a text that each compiler has to take
    return "".join([head, defined, unit, struct, *functions, "\n", long, tables, "\n", *code])


def _category_places(feature: dict[str, Any]) -> list[int]:
    """The outcome of each name in the list of a feature's categories, and of its end."""
    return [*range(len(feature.get("categories", []))), *feature.get("spellings", {}).values(), -1]


def _reading_tables(data: dict[str, Any]) -> str:
    """Names, and the tables by which values are read."""
    features = data["features"]
    edges = [feature.get("edges", []) for feature in features]
    names = [[*feature.get("categories", []), *feature.get("spellings", {})] for feature in features]
    return "".join(
        [
            _texts("questions", [question["name"] for question in data["questions"]]),
            _table("int", "feature_start", _starts([question["features"] for question in data["questions"]])),
            _texts("question_texts", [question["text"] for question in data["questions"]]),
            _table("int", "answer_start", _starts([feature["answers"] for feature in features])),
            _texts("answers", _flat(feature["answers"] for feature in features)),
            _texts("features", [feature["name"] for feature in features]),
            _texts("classes", data["classes"]),
            _texts("decisions", data["decisions"]),
            _texts("class_texts", data["class_texts"]),
            _texts("decision_texts", data["decision_texts"]),
            _table("int", "types", [_TYPES.index(feature["type"]) for feature in features]),
            _table("int", "outcomes", [feature["n_outcomes"] for feature in features]),
            _table("int", "gone", [feature.get("missing", -1) for feature in features]),
            _table("int", "edge_start", _starts(edges)),
            _table("double", "edges", _flat(edges)),
            _table("int", "places", _flat(feature.get("places", [0]) for feature in features)),
            # a null ends each list, where training showed no category
            _table("int", "category_start", _starts([[*some, None] for some in names])),
            _texts("categories", _flat([*some, None] for some in names)),
            _table("int", "category_places", _flat(map(_category_places, features))),
        ]
    )


#: Rules and policies by the names that the source has for them: it knows each by its place.
_RULES = ("EXPECTED", "CLASS", "HIDDEN", "EC2", "CROSS", "LOOKAHEAD", "ORDER", "IMPROVED")
_POLICIES = (
    *("RULE", "FIRST", "LIKELY", "SURE", "LOOKAHEAD", "RECURSION"),
    *("BOUNDS", "PLAN", "THRESHOLDS", "VALUES", "PANELS"),
)


def _constant(kind: str) -> str:
    return "VALUES" if kind in ("grid", "vectors", "functions") else kind.split()[0].upper()


class _Parts:
    """Policies, values and rules within one another, numbered and laid out as tables; policy 0 is the whole."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.n_classes, self.n_questions = len(data["classes"]), data["program"]["n_questions"]
        self.policies: list[tuple[str, int, int, int, float]] = []
        # where no rule says what comes next, it is information about the class
        self.rules: list[tuple[str, int, int, int]] = [("CLASS", 1, -1, -1)]
        self.values: list[tuple[int, int, list[int]]] = []
        self.order: list[int] = []
        self.weights: list[list[float]] = []
        #: The policies that have tables of their own, of which there is one of a kind.
        self.tables: dict[str, dict[str, Any]] = {}
        self.recursion = False
        self.policy(data["program"]["policy"])

    def policy(self, data: dict[str, Any]) -> int:
        kind, at = data["type"], len(self.policies)
        self.policies.append(("", 0, 0, 0, 0.0))
        first, second, number = -1, -1, 0.0
        if kind == "rule":
            first = self.of_values(data["values"])
        elif kind in ("first", "likely"):
            first = -1 if data["rule"] is None else self.rule(data["rule"])
            number = data.get("threshold", 0.0)
        elif kind == "sure":
            first, number = self.policy(data["policy"]), data["cost"]
        elif kind == "lookahead":
            first, second = data["depth"], _max_candidates(data)
        elif kind == "recursion":
            self.recursion = True
            first, second = 2, 5
        elif kind == "plan":
            first = self.policy(data["otherwise"])
        if kind in ("bounds", "plan", "thresholds", "grid", "vectors", "functions", "panels"):
            self.tables[kind] = data
        self.policies[at] = (_constant(kind), data["n_stages"], first, second, number)
        return at

    def of_values(self, data: dict[str, Any]) -> int:
        rows = []
        for weights in data["weights"]:
            rows.append(-1 if weights is None else len(self.weights))
            self.weights += [] if weights is None else [weights]
        values = (self.rule(data["rule"]), data["n_stages"], rows)
        self.values.append(values)
        return len(self.values) - 1

    def rule(self, data: dict[str, Any]) -> int:
        kind, first, second = data["type"], -1, -1
        if kind == "lookahead":
            first, second = data["depth"], _max_candidates(data)
        elif kind == "order":
            first, second = len(self.order), len(data["order"])
            self.order += data["order"]
        elif kind == "improved":
            first, second = self.of_values(data["values"]), data["n_candidates"]
        self.rules.append((_constant(kind), int(data["per_price"]), first, second))
        return len(self.rules) - 1


def _max_candidates(data: dict[str, Any]) -> int:
    """Questions that are looked at further; -1 for all."""
    return -1 if data["n_candidates"] is None else int(data["n_candidates"])


def _program(data: dict[str, Any]) -> tuple[dict[str, Any], str, str]:
    content, questions, parts = data["program"], data["questions"], _Parts(data)
    n_classes, asked = len(data["classes"]), content["n_questions"]
    groups = [-1 if question["group"] is None else question["group"] for question in questions]
    counts = [feature["n_outcomes"] for feature in data["features"]]
    rows, starts = _flat(content["likelihoods"]), [0, *accumulate(counts)]
    first, sizes, n_rows = [], [], starts[-1]
    for question, table in zip(questions, content["bundles"]):
        own = question["features"]
        joint = 0 if question.get("known") else math.prod(counts[feature] for feature in own)
        first.append(n_rows if len(own) > 1 else starts[own[0]])
        sizes.append(len(table) if table else joint if len(own) > 1 else counts[own[0]])
        rows += table or []
        n_rows += sizes[-1] if len(own) > 1 else 0
    limited = content["max_questions"] is not None
    visits = data["visits"] or {"cost": 0.0, "delays": [0.0] * len(questions), "delay_cost": 0.0, "max_panel": None}
    waits = [delay * visits["delay_cost"] for delay in visits["delays"]]
    alone = [visits["cost"] + wait for wait in waits]
    defines: dict[str, Any] = {
        "HIDDEN": len(content["hidden_class"]),
        "ASKED": asked,
        "STAGES": min(content["max_questions"], asked) if limited else asked,
        "LIMITED": int(limited),
        "ANY_ORDER": int(content["any_order"]),
        "MOST": "HUGE_VAL" if content["max_cost"] is None else repr(budget_of(content["max_cost"])),
        "DEAREST": repr(float(max(map(max, data["decision_costs"])) or 1.0)),
        "GROUPS": max(groups, default=-1) + 1 or 1,
        "INFORMATION": 0,
        "VISITS": int(data["visits"] is not None),
        "VISIT_COST": repr(float(visits["cost"])),
        "MAX_PANEL": visits["max_panel"] or len(questions),
        "WIDEST": max(sizes, default=1),
        "TOLD": 13 + min(n_classes, 2) + n_classes * (n_classes <= 10) + 2 * asked * (asked <= 40),
    }
    keeps = not _by_order(data) and math.prod(size + 1 for size in sizes[:asked]) < 2**31
    # costs that a recursion keeps on the stack, a prime number of them: 160 kB
    defines["REMEMBERED"] = 10_007 if parts.recursion and keeps else 1
    defines["LISTED"] = _n_listed(data, sizes[:asked]) if parts.recursion else 0
    defines |= {f"RULE_{name}": number for number, name in enumerate(_RULES)}
    defines |= {f"POLICY_{name}": number for number, name in enumerate(_POLICIES)}
    tables = [
        _table("int", "hidden_class", content["hidden_class"]),
        _table("double", "hidden_prior", content["hidden_prior"]),
        _table("double", "costs", _flat(data["decision_costs"]), len(data["decisions"])),
        _table("int", "group", groups),
        _table("char", "put_off", [question.get("put_off", 0) for question in questions]),
        _table("char", "told_at_start", [int(question.get("known", False)) for question in questions]),
        _table("double", "prices", [question["price"] + visit for question, visit in zip(questions, alone)]),
        _table("double", "full_prices", [question["full_price"] + visit for question, visit in zip(questions, alone)]),
        _table("double", "waits", waits),
        _table("double", "alone", alone),
        _table("int", "table_start", first),
        _table("int", "table_size", sizes),
        _table("int", "likelihood_start", starts),
        *(_network(data, defines, n_rows) if content["network"] else _states(rows, defines)),
        *_columns("policy", parts.policies, type="int", stages="int", a="int", b="int", x="double"),
        *_columns("rule", parts.rules, type="int", per_price="int", a="int", b="int"),
        _table("int", "values_rule", [rule for rule, _, _ in parts.values]),
        _table("int", "values_stages", [stages for _, stages, _ in parts.values]),
        _table("int", "values_start", _starts([of for _, _, of in parts.values])),
        _table("int", "values_row", _flat(of for _, _, of in parts.values)),
        _table("double", "weights", _flat(parts.weights), defines["TOLD"]),
        _table("int", "rule_order", parts.order),
    ]
    tables += _rules(data, defines)
    tables += _policy_tables(parts, defines, n_classes, asked, len(data["decisions"]))
    case = (
        f"    double weight[{defines['HIDDEN']}];\n    double belief[{n_classes}];\n    int known;\n"
        f"    int seen[{len(questions) or 1}];\n    int shown[{len(counts) or 1}];\n"
        f"    char paid[{defines['GROUPS']}];\n"
        f"    char ordered[{len(questions) or 1}];\n    double owed[{defines['GROUPS']}];\n    int visits;\n"
    )
    return defines, case, "".join(tables)


def _by_order(data: dict[str, Any]) -> bool:
    """Whether what is left of a limit of cost depends on the order of the same answers."""
    content, grouped = data["program"], any(question["group"] is not None for question in data["questions"])
    return content["max_cost"] is not None and (grouped or bool(content["prices_after"]))


def _n_listed(data: dict[str, Any], sizes: list[int]) -> int:
    """Partial answers where they alone tell what is best, and are more than a recursion goes through on the stack."""
    content = data["program"]
    if any(content["bundles"]) or content["network"] or content["rules"] or data["visits"] or _by_order(data):
        return 0
    n = math.prod(size + 1 for size in sizes)
    return n if FEW < n <= ANEW else 0


def _states(rows: list[Any], defines: dict[str, Any]) -> list[str]:
    """P(outcome | hidden state), of each feature and then of bundles."""
    defines["CLIQUES"] = 0
    return [_table("double", "likelihoods", _flat(rows), defines["HIDDEN"])]


def _network(data: dict[str, Any], defines: dict[str, Any], n_rows: int) -> list[str]:
    """Cliques of a network, and how one goes through their cells beside those of messages."""
    sizes, cliques = (data["program"]["network"][key] for key in ("sizes", "cliques"))
    cells = [math.prod(sizes[v] for v in clique["variables"]) for clique in cliques]
    home: dict[int, int] = {}
    for k in sorted(range(len(cliques)), key=cells.__getitem__):  # the smallest clique that has it tells of a variable
        home = dict.fromkeys(cliques[k]["variables"], k) | home
    up, down, messages = [], [], []
    for clique in cliques:
        above = [] if clique["parent"] < 0 else cliques[clique["parent"]]["variables"]
        shared = [v for v in clique["variables"] if v in above]
        steps = dict(zip(shared, accumulate([1, *(sizes[v] for v in shared)], operator.mul)))
        up.append([steps.get(v, 0) for v in clique["variables"]])
        down.append([steps.get(v, 0) for v in above])
        messages.append(math.prod(sizes[v] for v in shared))
    tables = [_flat(clique["table"]) for clique in cliques]
    shown = len(data["features"])
    at_home = [v if v < shown and home[v] == k else -1 for k, one in enumerate(cliques) for v in one["variables"]]
    defines |= {
        "CLIQUES": len(cliques),
        "CELLS": sum(cells),
        "SENT": sum(messages),
        "MESSAGE": max([*messages, *sizes]),
        "WIDE": max(len(clique["variables"]) for clique in cliques) or 1,
        "ROWS": n_rows,
        "SINGLES": sum(sizes[:shown]),
    }
    return [
        _table("int", "clique_start", _starts(up)),
        _table("int", "clique_sizes", [sizes[v] for clique in cliques for v in clique["variables"]]),
        _table("int", "clique_home", at_home),
        _table("int", "clique_parent", [clique["parent"] for clique in cliques]),
        _table("int", "clique_up", _flat(up)),
        _table("int", "clique_down", _flat(down)),
        _table("int", "down_start", _starts(down)),
        _table("int", "cell_start", [0, *accumulate(cells)]),
        _table("int", "sent_start", [0, *accumulate(messages)]),
        _table("int", "clique_table", _starts(tables)),
        _table("int", "clique_by_class", [n * (len(c["table"]) > 1) for n, c in zip(cells, cliques)]),
        _table("double", "clique_tables", _flat(tables)),
    ]


def _rules(data: dict[str, Any], defines: dict[str, Any]) -> list[str]:
    """Rules of what may be asked, and skip logic, that of the start after the other."""
    rules, start, n = data["program"]["rules"], data["program"]["start"], data["program"]["n_questions"]
    logic = [*(rules["answers"] if rules else []), *start]
    gates = {rule["after"] for rule in logic[: len(logic) - len(start)]}
    defines |= {"RULED": int(rules is not None), "DEMANDS": int(bool(rules and rules["demands"])), "STARTS": len(start)}
    prices = data["program"]["prices_after"]
    ifs = _flat(one["if"] for one in prices)
    gates |= {gate["after"] for gate in ifs}
    defines |= {"LOGIC": len(logic) - len(start), "DEPENDS": len(prices)}
    defines["HAS_RULES"] = int(rules is not None or bool(start) or bool(prices))
    tables = [_table("char", "gate", [int(q in gates) for q in range(n)])]
    if not defines["HAS_RULES"]:
        return tables
    by_question = [[one for one in prices if one["question"] == q] for q in range(len(data["questions"]))]
    tables += [
        _table("int", "after_start", _starts(by_question)),
        _table("double", "after_price", [one["price"] for one in prices]),
        _table("int", "if_start", _starts([one["if"] for one in prices])),
        _table("int", "if_feature", [gate["feature"] for gate in ifs]),
        _table("int", "if_answer_start", _starts([gate["answers"] for gate in ifs])),
        _table("int", "if_answer", _flat(gate["answers"] for gate in ifs)),
    ] * bool(prices)
    effects = ("opens", "closes", "implies")
    tables += [_table("int", f"logic_{key}", [rule[key] for rule in logic]) for key in ("question", "after", "feature")]
    tables += [
        _table("char", "logic_effect", [effects.index(rule["effect"]) for rule in logic]),
        _table("int", "logic_implied", [rule.get("implied", -1) for rule in logic]),
        _table("char", "logic_any", [int(rule.get("any", False)) for rule in logic]),
        _table("int", "logic_start", _starts([rule["answers"] for rule in logic])),
        _table("int", "logic_answer", _flat(rule["answers"] for rule in logic)),
    ]
    if rules is None:
        return tables
    areas, sets = len(rules["at_least"]), rules["sets"]
    defines |= {"AREAS": areas or 1, "ENEMIES": len(rules["enemies"]), "UNITS": max(rules["unit"], default=0) + 1}
    defines |= {"SETS": len(sets) or 1, "N_SETS": len(sets)}
    defines |= {"REQUIRED": len(rules["required"]), "FIRST": len(rules["first"])}
    lists = {"enemy": rules["enemies"], "set": [one["areas"] for one in sets], "cheap": rules["cheapest"] or [[]]}
    return [
        *tables,
        *(_table("int", key, rules[key] or [0]) for key in ("area", "at_least", "at_most", "unit", "required")),
        *(_table("int", f"{key}_start", _starts(some)) for key, some in lists.items()),
        *(_table("int", name, _flat(lists[key])) for name, key in (("enemy", "enemy"), ("set_area", "set"))),
        _table("int", "cheapest_of", _flat(lists["cheap"])),
        _table("int", "first_ones", rules["first"]),
        _table("char", "is_required", [int(q in rules["required"]) for q in range(n)]),
        _table("char", "closed", [int(q in rules["closed"]) for q in range(n)]),
        _table("int", "set_takes", _flat(one["takes"] for one in sets), n),
    ]


def _policy_tables(parts: _Parts, defines: dict[str, Any], n_classes: int, asked: int, n_decisions: int) -> list[str]:
    """Tables of policies that have such."""
    grid, vectors = parts.tables.get("grid"), parts.tables.get("vectors")
    panels = parts.tables.get("panels", {"plan": [], "weights": None, "once": False, "least": 1, "most": 1})
    own = parts.tables.get("plan", {"plan": [], "spent": None})
    rows = [*panels["plan"], *own["plan"]]
    spent = own["spent"] or [None] * len(rows)
    plan = [([row[0], *row[2:]], row[1]) for row in rows]
    bounds, weights = parts.tables.get("bounds", {}), panels["weights"] or []
    defines |= {"PANEL_LEAST": panels["least"], "PANEL_MOST": panels["most"], "ONCE": int(panels["once"])}
    defines |= {"BRANCHES": panels.get("n_branches", 1), "PANEL_FITTED": int(bool(weights))}
    stages = _flat(grid["stages"]) if grid else []
    defines["GRID"], defines["POINTS"] = (grid["resolution"], max(map(len, stages), default=1)) if grid else (0, 1)
    defines["BOUND_POINTS"] = len(bounds["values"][0]) if bounds else 1
    defines["BOUND_GRID"], defines["LINE"] = bounds.get("resolution", 0), len(bounds.get("points", [0.0]))
    bit = [2 ** bounds["once"].index(q) if q in bounds.get("once", ()) else 0 for q in range(asked)]
    defines["PLAN"] = len(plan)
    rows = []
    for (ask, *seen), _ in plan:
        row = [-2] * asked
        for question, outcome in zip(seen[::2], seen[1::2]):
            row[question] = outcome
        rows.append([ask, *row])
    vector_sets = _flat(vectors["stages"]) if vectors else []
    functions = parts.tables.get("functions", {"stages": [], "pairs": [], "prices": []})
    every = _flat(functions["stages"])
    fitted = [weights for weights in every if weights is not None]
    places = accumulate(int(weights is not None) for weights in every)
    at = [-1 if weights is None else place - 1 for weights, place in zip(every, places)]
    defines["FITTED"], defines["PAIRS"] = int(bool(every)), len(functions["pairs"])
    values = grid or vectors or functions
    prices = values["prices"]
    thresholds = parts.tables.get("thresholds", {"thresholds": []})["thresholds"]
    return [
        *_context_tables(values, defines, n_classes),
        _table("double", "stage_values", _flat(stages), defines["POINTS"]),
        _table("int", "vector_start", _starts(vector_sets)),
        _table("double", "vectors", _flat(_flat(vector_sets)), n_classes),
        _table("double", "planned_prices", prices),
        _table("int", "function_row", at),
        _table("double", "functions", _flat(fitted), 4 * n_classes + 4 + 2 * defines["PAIRS"]),
        _table("int", "pairs", _flat(functions["pairs"]), 2),
        _table("double", "thresholds", _flat(_flat(thresholds)), n_classes),
        _table("int", "bit", bit),
        _table("double", "line", bounds.get("points", [])),
        _table("double", "bounds", _flat(bounds.get("values", [])), defines["BOUND_POINTS"]),
        _table("int", "plan", _flat(rows), asked + 1),
        _table("double", "plan_spent", spent),
        _table("double", "plan_cost", [cost for _, cost in plan]),
        _table("double", "panel_weights", weights or [0.0] * (10 + n_classes)),
    ]


def _context_tables(values: dict[str, Any], defines: dict[str, Any], n_classes: int) -> list[str]:
    """Contexts of values in a fixed order, and what earlier answers correct of them."""
    moves = values.get("moves") or []
    corrections = [one or {"all": [], "questions": [], "tables": []} for one in values.get("corrections") or []]
    rows: list[list[float]] = []
    first, starts = [], []
    for one in corrections:
        first.append(len(rows) if one["all"] else -1)
        rows += [one["all"]] if one["all"] else []
        for table in one["tables"]:
            starts.append(len(rows))
            rows += table
    defines["MOVES"], defines["VALUED"] = int(bool(moves)), len(values["stages"])
    return [
        _table("int", "value_start", _starts(values["stages"])),
        _table("int", "move_start", _starts([_flat(stage) for stage in moves])),
        _table("int", "moves", _flat(_flat(stage) for stage in moves)),
        _table("int", "correction", first or [-1] * len(values["stages"])),
        _table("int", "told_start", _starts([one["questions"] for one in corrections]) if corrections else [0]),
        _table("int", "told", _flat(one["questions"] for one in corrections)),
        _table("int", "told_row", starts),
        _table("double", "corrections", _flat(rows), n_classes + 2),
    ]


def _columns(name: str, rows: Sequence[tuple[Any, ...]], **columns: str) -> list[str]:
    """A table for each column; a type is named as the source defines it."""
    prefix, tables = f"SEQ_{name.upper()}_", []
    for (column, kind), cells in zip(columns.items(), zip(*rows)):
        entries = [prefix + cell if isinstance(cell, str) else cell for cell in cells]
        tables.append(_table(kind, f"{name}_{column}", entries))
    return tables


def _graph(data: dict[str, Any]) -> tuple[dict[str, int], str, str]:
    nodes, n_classes = data["nodes"], len(data["classes"])
    successors = [[node["missing"], *node["next"]] if "ask" in node else [] for node in nodes]
    tables = [
        _table("int", "ask", [node.get("ask", -1) for node in nodes]),
        _table("double", "node_price", [node.get("price") for node in nodes]),
        _table("double", "node_visit", [node.get("visit", 0.0) for node in nodes]),
        _table("double", "node_saving", [node.get("saving") for node in nodes]),
        _table("int", "node_decision", [node["decision"] for node in nodes]),
        _table("double", "node_now", [node["cost_now"] for node in nodes]),
        _table("double", "node_belief", _flat(node["belief"] for node in nodes), n_classes),
        _table("char", "node_cut", [int(node.get("cut", False)) for node in nodes]),
        _table("int", "first", _starts(successors)),
        _table("int", "next", [-1 if child is None else child for child in _flat(successors)]),
    ]
    return {}, "    int node;\n", "".join(tables)


def _flat(lists: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(lists))


def _starts(lists: Sequence[Sequence[Any]]) -> list[int]:
    return [0, *accumulate(map(len, lists))]


def _table(kind: str, name: str, numbers: Sequence[Any], width: int = 0) -> str:
    """A constant array of numbers, or names of such; C has none that are empty. With a width, one of rows."""
    entries = ["NAN" if one is None else one if isinstance(one, str) else repr(one) for one in numbers]
    entries = entries or ["0"] * max(width, 1)
    if width:
        entries = [f"{{{_lines(entries[i : i + width])}}}" for i in range(0, len(entries), width)]
    size = f"[{len(entries)}]" + (f"[{width}]" if width else "")
    inside = ",\n    ".join(entries) if width else _lines(entries)
    return f"static const {kind} seq_{name}{size} = {{\n    {inside}\n}};\n"


def _lines(entries: list[str]) -> str:
    """Ten numbers a line."""
    return ",\n    ".join(", ".join(entries[i : i + 10]) for i in range(0, len(entries), 10))


def _texts(name: str, texts: Sequence[str | None]) -> str:
    entries = [f"    {'0' if text is None else _quote(text)}" for text in texts] or ["    0"]
    return f"static const char *const seq_{name}[{len(entries)}] = {{\n" + ",\n".join(entries) + "\n};\n"


def _quote(text: str) -> str:
    """A string literal: what is not plain is written byte by byte, so nothing in it ends it or is a trigraph."""
    plain = set(range(32, 127)) - set(b'"\\?')
    data = text.encode("utf-8", errors="backslashreplace")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in data) + '"'
