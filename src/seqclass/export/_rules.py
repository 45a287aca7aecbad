"""Rules of what may be asked, and what has to be, as a program has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass.pomdp.answer_rules import AnswerRules, Effect
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.rules import rules_of


class NotExportable(ValueError):
    """What no program can say; the message tells what it is, and the remedy what to do where no graph does either."""

    remedy = ""


def rules_data(own: AcquisitionProblem, whole: AcquisitionProblem) -> dict[str, Any]:
    """Rules of a problem, whose questions are the first ones of a problem of all questions."""
    starts = None if own.structure.starts is None else own.structure.starts.answers
    return {"rules": _rules(own, whole), "start": _answer_rules(starts, whole, whole.n_questions)}


def _rules(own: AcquisitionProblem, whole: AcquisitionProblem) -> dict[str, Any] | None:
    rules = rules_of(own)
    if rules is None:
        return None
    if rules.prices:
        raise NotExportable("prices depend on answers")
    if rules.has_requirements and own.limits.max_cost is not None:
        raise NotExportable("rules set money aside of max_cost for what has to be asked")
    head = rules.first[rules.compelled[rules.first]]
    counted = np.where(rules._never | rules.compelled, -1, rules.area)
    order = np.argsort(own.prices, kind="stable")
    units = [order[counted[order] == area] for area in range(len(rules.areas))]
    return {
        "area": rules.area.tolist(),
        "at_least": rules.at_least.tolist(),
        "at_most": np.minimum(rules.at_most, own.n_questions).tolist(),
        "enemies": [np.flatnonzero(group).tolist() for group in rules.enemies],
        "first": rules.first.tolist(),
        "required": [*head.tolist(), *np.setdiff1d(np.flatnonzero(rules.compelled), head).tolist()],
        "closed": np.flatnonzero(rules._never).tolist(),
        "demands": rules.has_requirements,
        "unit": rules._unit.tolist(),
        "sets": [
            {"areas": some.tolist(), "takes": takes.tolist()}
            for some, takes in sorted(zip(rules._sets, rules._takes), key=lambda one: int(one[0][-1]))
        ],
        "cheapest": [one[np.sort(np.unique(rules._unit[one], return_index=True)[1])].tolist() for one in units],
        "answers": _answer_rules(rules.answers, whole, own.n_questions),
    }


def _answer_rules(rules: AnswerRules | None, whole: AcquisitionProblem, n_questions: int) -> list[dict[str, Any]]:
    """Skip logic by the first so many questions: what each answer opens, closes or implies."""
    if rules is None:
        return []
    members = [whole.structure.members(question) for question in range(n_questions)]
    place = {int(own[0]): question for question, own in enumerate(members) if len(own) == 1}
    data = []
    for target, gate, accepts, implied in zip(rules.target, rules.gate, rules.accepts, rules.implied.tolist()):
        question, after = (place.get(int(rules.features[one])) for one in (target, gate))
        if question is None:  # which is never asked here
            continue
        if after is None:
            raise NotExportable("skip logic looks at an answer that is one of a bundle")
        effect = {Effect.OPENS: "opens", Effect.CLOSES: "closes"}.get(implied, "implies")
        rule = {"question": question, "after": after, "answers": np.flatnonzero(accepts).tolist(), "effect": effect}
        data.append(rule | ({"implied": implied} if effect == "implies" else {"any": bool(rules.any_of[target])}))
    return data
