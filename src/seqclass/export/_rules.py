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
    prices = _prices_after(whole, whole)
    paid = [one for one in prices if one["question"] < own.n_questions]
    if paid != _prices_after(own, whole) or any(gate["after"] >= own.n_questions for one in paid for gate in one["if"]):
        raise NotExportable("its policy was made for other prices that depend on answers than those that are paid")
    start = _answer_rules(starts, whole, whole.n_questions)
    return {"rules": _rules(own, whole), "start": start, "prices_after": prices}


def _places(whole: AcquisitionProblem) -> dict[int, tuple[int, int]]:
    """Of each feature of a model the question that shows it, and its number in the data."""
    members = [(question, int(j)) for question in range(whole.n_questions) for j in whole.structure.members(question)]
    return {feature: (question, number) for number, (question, feature) in enumerate(members)}


def _prices_after(problem: AcquisitionProblem, whole: AcquisitionProblem) -> list[dict[str, Any]]:
    """Prices of questions by answers, the last that holds counts."""
    rules, places, found = rules_of(problem), _places(whole), list[dict[str, Any]]()
    for question, feature in enumerate(problem.features.tolist()):
        low, high = float(problem.prices[question]), float(problem.full_prices[question])
        for one in () if rules is None else (one for one in rules.prices if one.question == feature):
            gates = [
                dict(zip(("after", "feature"), places[gate]))
                | {"answers": _outcomes(whole, places[gate][0], gate, answers)}
                for gate, answers in one.after.items()
            ]
            found.append({"question": question, "if": gates, "price": low * (1 - one.price) + high * one.price})
    return found


def _outcomes(whole: AcquisitionProblem, question: int, feature: int, accepted: Any) -> list[int]:
    """Outcomes of a question's feature that are accepted, all of them where None says so."""
    bundle = whole.structure.bundle(question)
    size = whole.n_outcomes[question] if bundle is None else bundle.sizes[list(bundle.features).index(feature)]
    return list(range(int(size))) if accepted is None else [int(one) for one in accepted]


def _rules(own: AcquisitionProblem, whole: AcquisitionProblem) -> dict[str, Any] | None:
    rules = rules_of(own)
    if rules is None:
        return None
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
    places, data = _places(whole), []
    for target, gate, accepts, implied in zip(rules.target, rules.gate, rules.accepts, rules.implied.tolist()):
        question, (after, feature) = places[int(rules.features[target])][0], places[int(rules.features[gate])]
        if question >= n_questions:  # which is never asked here
            continue
        if after >= n_questions:
            raise NotExportable("skip logic looks at the answer to a question that the policy never asks")
        effect = {Effect.OPENS: "opens", Effect.CLOSES: "closes"}.get(implied, "implies")
        accepted = np.flatnonzero(accepts).tolist()
        rule = {"question": question, "after": after, "feature": feature, "answers": accepted, "effect": effect}
        data.append(rule | ({"implied": implied} if effect == "implies" else {"any": bool(rules.any_of[target])}))
    return data
