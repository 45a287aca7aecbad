"""What a fitted classifier is, for people and as a plain record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass import __version__
from seqclass._base import BaseSequentialClassifier
from seqclass._utils.model_files import load
from seqclass._utils.text import money, range_text, unit_text
from seqclass.agent._case import Questions
from seqclass.agent.agent import agent_of, feature_name, names_at_start, outcome_labels
from seqclass.agent.choices import category_choices
from seqclass.agent.differential import Differential
from seqclass.classifier import SequentialClassifier
from seqclass.cli._commands import fit
from seqclass.cli._errors import InputError, as_input_errors, as_options, check_input_file
from seqclass.cli._format import count, gap_text, table, wrap
from seqclass.costs import Costs
from seqclass.evaluation.contract import CertifiedError, classifier_of, contract_of
from seqclass.fitting.choice import Choice
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp import ClassInformation
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.bounds.certificate import SCOPES
from seqclass.pomdp.evaluation import Evaluation
from seqclass.pomdp.one_step import initial_beliefs
from seqclass.pomdp.rules import Rules
from seqclass.pomdp.solve_info import WIDE_GAP

#: What it means for a plan that a limit was hit.
LIMITED = "Time or work was up before all was tried that might serve."


def load_model(path: Path, unknown: str | None = None, currency: str | None = None) -> BaseSequentialClassifier:
    """Read a model file, and have it treat unknown categories and name the unit of its prices as the user wants."""
    return load_contract(path, unknown, currency)[0]


def load_contract(
    path: Path, unknown: str | None = None, currency: str | None = None
) -> tuple[BaseSequentialClassifier, CertifiedError | None]:
    """Read a model file as `load_model` does, and what 'seqclass certify' found of it, if it wrote the file."""
    model, held = load_parts(path, unknown, currency)
    return model, contract_of(held)


def load_parts(
    path: Path, unknown: str | None = None, currency: str | None = None
) -> tuple[BaseSequentialClassifier, Any]:
    """Read a model file as `load_model` does, and what it holds: the model, or what the model is a part of."""
    check_input_file(path)
    with as_input_errors():
        held = load(path)
    try:
        clf, _ = classifier_of(getattr(held, "classifier", held) if contract_of(held) is None else held)
    except TypeError:
        raise InputError(f"{path} is of type {type(held).__name__}, no SequentialClassifier.") from None
    except ValueError as error:
        raise InputError(f"{path} holds no classifier: {error}") from None
    if unknown is not None:
        clf.handle_unknown = unknown
    if currency is not None:
        clf.feature_costs = clone(Costs.from_value(clf.feature_costs)).set_params(unit=currency)
    return clf, held


def contract_text(contract: CertifiedError) -> str:
    """Say what is certified, and lay out what was seen in each group."""
    text = wrap(str(contract))
    if len(contract.groups) < 2:
        return text
    rows = [[str(g.label), f"{g.n_rows:,}", f"{g.risk:.4f}", f"{g.bound:.4f}"] for g in contract.groups]
    return f"{text}\n\n{table(['group', 'rows', contract.noun, 'upper bound'], rows)}"


def differential_record(clf: BaseSequentialClassifier, sets: Differential) -> dict[str, Any]:
    """What is promised of sets of classes, as a plain record."""
    return asdict(sets) | {"limits": dict(zip(map(str, clf.classes_.tolist()), sets.limits.tolist()))}


def describe(clf: BaseSequentialClassifier, most: int | None = None) -> dict[str, Any]:
    """What is in a model, as a plain record."""
    info = clf.policy_.info
    features = list(islice(_features(clf, most is None), len(clf.order_) if most is None else most))
    return {
        "seqclass_version": __version__,
        "classes": [str(c) for c in clf.classes_.tolist()],
        "prior": clf.problem_.prior.tolist(),
        "decisions": [str(d) for d in clf.decisions_.tolist()],
        "decision_costs": clf.problem_.decision_costs.tolist(),
        "n_features": clf.n_features_in_,
        "known": names_at_start(agent_of(clf)),
        "unit": agent_of(clf).unit,
        "visits": visits_text(clf),
        "horizon": clf.policy_.n_stages,
        "features": features,
        "status": info.status,
        "advice": info.advice,
        "scope": info.scope,
        "upper": info.upper,
        "lower": info.lower,
        "gap": info.gap,
        "confidence": info.confidence,
        "expected_cost": clf.expected_cost_,
        "held_out": held.record() if (held := vars(clf).get("held_out_")) else None,
        "choice": choice_record(clf),
        "skipped": list(getattr(vars(clf).get("choice_"), "skipped", ())),
        "rules": list(_rule_texts(clf)),
        "settings": settings(clf),
        "provenance": None if (origin := vars(clf).get("provenance_")) is None else origin.record(),
    }


def most_text(clf: BaseSequentialClassifier) -> str:
    """Most features of a case, and most that may be paid for them."""
    most, unit = clf.problem_.limits.max_cost, agent_of(clf).unit
    price = "" if most is None else f" and {money(most, unit)}"
    return f"at most {count(clf.policy_.n_stages, 'feature')}{price} a case"


def visits_text(clf: BaseSequentialClassifier) -> str:
    """What a visit costs beyond the prices of what is asked in it; empty where it costs nothing."""
    agent = agent_of(clf)
    if (visits := agent.prices.visits) is None:
        return ""
    parts = [f"{money(visits.cost, agent.unit)} each"]
    if visits.delay_cost and visits.delays.any():
        waiting = money(visits.delay_cost, agent.unit)
        parts.append(f"{waiting} a unit of time, of which answers take up to {visits.delays.max():g}")
    if visits.max_panel is not None:
        parts.append(f"at most {count(visits.max_panel, 'question')}")
    return ", ".join(parts)


def _rule_texts(clf: BaseSequentialClassifier) -> Iterator[str]:
    """Say what may be asked, and what has to be: a sentence for each rule."""
    rules = Rules.from_value(clf.get_params(deep=False).get("rules")) or Rules()

    def names(columns: Any, between: str = ", ") -> str:
        return between.join(one if isinstance(one, str) else feature_name(agent_of(clf), int(one)) for one in columns)

    opening: dict[str, list[str]] = {}
    skips = getattr(rules.skip, "rules", ())
    joined = {names([rule.question]): ", or " for rule in skips if rule.match == "any"}
    for rule in skips:
        answer = "answered" if rule.answers is None else " or ".join(map(str, rule.answers))
        question, case = names([rule.question]), f"{names([rule.after])} is {answer}"
        if rule.implied is not None:
            yield f"{question} is not asked where {case}: it is then {rule.implied}"
        else:
            opening.setdefault(question, []).append(case)
    for question, cases in opening.items():
        yield f"{question} is asked only where {joined.get(question, ' and ').join(cases)}"
    for name, area in rules.areas.items():
        limits = [f"{key.replace('_', ' ')} {area[key]}" for key in ("at_least", "at_most") if key in area]
        yield f"of {name}, {' and '.join(limits) or 'any number'} of: {names(area['items'])}"
    for group in rules.enemies:
        yield f"at most one of: {names(group)}"
    if len(rules.first):
        yield f"before all others: {names(rules.first, ', then ')}"
    if len(rules.mandatory):
        yield f"asked in every case: {names(rules.mandatory)}"


def bound_text(content: dict[str, Any]) -> str:
    """Say how near to the least the cost of a policy comes, by the model itself."""
    gap, among = content["gap"], SCOPES[content["scope"]]
    if math.isnan(gap):
        return "How near that is to the least that can be had was not worked out."
    sure = "" if content["confidence"] == 1 else f" (with {100 * content['confidence']:.0f}% confidence)"
    if gap == 0:
        return f"No policy {among} costs less{sure}."
    text = f"No policy {among} costs less than {content['lower']:.4f}{sure}"
    if gap <= WIDE_GAP:
        near = "a hundredth of a percent" if gap < 1e-4 else gap_text(gap)
        return f"{text}: it is within {near} of the best."
    return f"{text}, which is a rough bound: the best may cost as much as this one, or anything in between."


def describe_cost(clf: BaseSequentialClassifier, by: str, asked: str, expected: Evaluation | None) -> str:
    """Say what a case takes and costs on average, by a model; or what it costs, where the policy was not followed."""
    cost, unit = clf.expected_cost_, unit_text(clf.decision_costs_, agent_of(clf).unit)
    if expected is None:
        return f"By {by} a case costs {cost:.4f} on average{unit}."
    price = min(expected.price, cost)
    return (
        f"By {by} a case takes {expected.n_features:.1f} {asked} and costs {cost:.4f} on average: {price:.4f} for "
        f"{asked} and {cost - price:.4f} for decisions{unit}."
    )


def choice_record(clf: BaseSequentialClassifier) -> list[dict[str, Any]] | None:
    """What a classifier that chooses how to learn has tried."""
    choice: Choice | None = getattr(clf, "choice_", None)
    if choice is None:
        return None
    return [asdict(tried) | {"chosen": tried.name == choice.chosen} for tried in choice.candidates]


def describe_held_out(held: HeldOut, unit: str = "", *, options: bool = True) -> str:
    """Lay out what a classifier costs on rows that it has not seen, beside its yardsticks; advice by options of fit."""
    rows, all_ = [], [costs for costs in (held, held.deciding_at_once, held.linear) if costs is not None]
    refers = any(costs.referred for costs in all_)
    for costs in all_:
        shares = [costs.error, costs.referred] if refers else [costs.error]
        figures = [f"{value:.4f}" for value in (costs.cost, costs.price, costs.decision_cost, *shares)]
        name = "this classifier" if costs is held else costs.name.lower()
        ends = range_text(costs.cost_interval, "{:.4f}".format)
        rows.append([name, figures[0], ends, *figures[1:], f"{costs.n_features:.2f}"])
    head = ["held out", "cost", "95% interval", "price", "decisions", "error", *["referred"] * refers, "features"]
    on = f"On rows that the fit had not seen ({held.n_folds} folds, {count(held.n_rows, 'row')}), per case"
    heading = f"{on}, in {unit}:" if unit else f"{on}:"
    advice = as_options(held.advice.replace("seqclass.ifc2f", "--method ifc2f"), fit) if options else held.advice
    return "\n".join([heading, table(head, rows), *filter(None, [wrap(advice)])])


def settings(clf: BaseSequentialClassifier) -> dict[str, str]:
    """The settings of a classifier that differ from the defaults, and its parts, as text."""
    default = SequentialClassifier().get_params(deep=False)
    # one that chooses its parts has them beside its parameters
    names = [name for name in {**clf.get_params(deep=False), **default} if name not in ("feature_costs", "rules")]
    chosen = {name: repr(getattr(clf, name)) for name in names if hasattr(clf, name)}
    chosen = {name: text for name, text in chosen.items() if name not in default or text != repr(default[name])}
    if agent_of(clf).charge_missing:  # prices and costs of decisions are shown by themselves
        chosen["charge_missing"] = "True"
    if clf.discretizer is None and clf.coder_.numeric_.size:  # which bins numbers all the same
        chosen["discretizer"] = f"None, which is {clf.coder_.discretizer_!r}"
    return {name: " ".join(text.split()) for name, text in chosen.items()}


#: Of a policy whose limits let nothing be asked.
NOTHING_ASKED = "Nothing is asked for: every case is decided at once."


def feature_lines(features: list[dict[str, Any]]) -> str:
    """Lay out the features of `describe`."""
    rows = [
        [str(i), feature["name"], _price(feature), str(len(feature["outcomes"])), _outcomes(feature)]
        for i, feature in enumerate(map(_drop_unseen_bins, features), 1)
    ]
    return table(["  #", "feature", "  price", "bins", "outcomes"], rows, left=(1, 4))


def _features(clf: BaseSequentialClassifier, silent: bool = True) -> Iterator[dict[str, Any]]:
    """Features as they are asked for, or in any order what tells most first; those of a bundle stand together."""
    questions, problem = Questions(agent_of(clf), clf.problem_), clf.problem_
    prices = problem.full_prices if problem.any_order else planned_prices(problem)
    prices = prices if problem.visits is None else prices - problem.visits.single_costs  # which are told by themselves
    order = range(clf.policy_.n_stages)
    if problem.any_order:
        # rules close much at the start that is asked later
        begun, weight = initial_beliefs(problem.replace(rules=None))
        score = weight @ ClassInformation().scores(begun)
        order = np.argsort(-score, kind="stable").tolist()
        # what tells less than this share of what tells most, tells nothing
        if not silent and len(telling := np.flatnonzero(score > 1e-9 * max(score.max(initial=0.0), 0.0))):
            order = order[: len(telling)]
    for question in order:
        members = questions.features(question)
        for place, feature in enumerate(members):
            bundle = {"bundle": questions.name(question), "first": place == 0} if len(members) > 1 else {}
            yield _feature(clf, feature.column, float(prices[question])) | bundle


def _price(feature: dict[str, Any]) -> str:
    """Price as a cell; of a bundle beside its first feature only."""
    return money(feature["price"]) if feature.get("first", True) else f"with {feature['bundle']}"


def _feature(clf: BaseSequentialClassifier, column: int, price: float) -> dict[str, Any]:
    agent = agent_of(clf)
    labels, own = outcome_labels(agent, column), int(agent.coder.n_value_outcomes[column])
    missing = {"missing": own} if agent.coder.missing_code[column] >= 0 else {}
    return {
        "name": clf.feature_name(column),
        "column": column,
        "price": price,
        "outcomes": [*(category_choices(agent, column) or labels[:own]), *labels[own:]],
        "values": [
            {"value": v, "outcome": clf.coder_.code_value(column, v)} for v in clf.coder_.few_values(column).tolist()
        ],
        **missing,
    }


def _drop_unseen_bins(feature: dict[str, Any]) -> dict[str, Any]:
    """Without the bins between few whole numbers, into which none of them falls; a missing answer stays."""
    seen = {value["outcome"] for value in feature["values"]}
    kept = seen | {feature.get("missing")}
    shown = [label for v, label in enumerate(feature["outcomes"]) if v in kept or not seen]
    return {**feature, "outcomes": shown}


def _outcomes(feature: dict[str, Any], width: int = 44) -> str:
    text = " | ".join(feature["outcomes"])
    return text if len(text) <= width else text[: width - 6].rsplit(" | ", 1)[0] + " | ..."
