"""What a column may show, as those who answer are offered it, and words for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from seqclass._utils.frames import spelt
from seqclass._utils.marks import mark_prefix
from seqclass._utils.text import value_text
from seqclass.agent.agent import Agent, column_categories, columns_by_name, feature_name, marks_of, outcome_labels
from seqclass.labels import Labels


def is_category(agent: Agent, column: int, value: Any) -> bool:
    """Whether a value is one of the categories of a column, however these are spelt."""
    return agent.encoder is not None and agent.encoder.code(agent.encoder.columns_[column], value, "missing") >= 0


def category_choices(agent: Agent, column: int) -> list[str]:
    """What a column of categories may show, in the order to offer it: that of the model where it has one; else none."""
    known, model = column_categories(agent, column) or [], agent.model
    if column in agent.support:
        listed = list(map(spelt, model._outcome_choices(int(np.searchsorted(agent.support, column))) or []))
        known = listed if set(listed) == set(known) else known
    return known


def few_values(agent: Agent, column: int) -> list[str]:
    """The few whole numbers that training showed of a column, as text; none where it showed others, or many."""
    return list(map(value_text, agent.coder.few_values(column).tolist()))


def answer_choices(agent: Agent, column: int, words: Labels) -> dict[str, str]:
    """Values to choose from, and their words, in the order to offer them; none where a number is to be told."""
    name, known = feature_name(agent, column), outcome_labels(agent, column)
    own, values = words.answers(name), category_choices(agent, column)
    if not values and agent.coder.discretizer_ is None:  # outcomes are told as they are
        values = known[: agent.coder.n_value_outcomes[column]]
    if values:
        return {value: own.get(value, value) for value in words.in_order(name, values)}
    few = few_values(agent, column) if own else []
    outcomes = {value: agent.coder.code_value(column, float(value)) for value in few}
    texts = {value: own.get(value, own.get(known[outcome], "")) for value, outcome in outcomes.items()}
    # where one has no words, others may be meant as well
    return {value: texts[value] for value in words.in_order(name, texts)} if all(texts.values()) else {}


def check_labels(agent: Agent, labels: Any, translate: Mapping[str, str] | None = None) -> Labels:
    """Labels, or what they are made of, checked against columns, what they may show, and decisions; else a model's."""
    number = columns_by_name(agent)

    marks = marks_of(agent)

    def values_of(name: str) -> list[str]:
        if (column := number.get(name)) is None:  # a bundle
            return marks.get(name, [])
        return category_choices(agent, column) or list(
            dict.fromkeys([*outcome_labels(agent, column), *few_values(agent, column)])
        )

    names = dict.fromkeys([*number, *agent.prices.bundle_names])
    words = Labels.from_value(labels).check(names, values_of, agent.classes.tolist(), agent.decisions.tolist())
    features: dict[str, Any] = dict(words.features)
    usual = {str(k): (translate or {}).get(text, text) for k, text in enumerate(agent.model._outcome_words)}
    for name, at in number.items() if usual else ():
        if not words.answers(name) and outcome_labels(agent, at) == list(usual):
            features[name] = {**features.get(name, {}), "answers": usual}
    for question, own in marks.items():
        texts, answers = words.answers(question), dict[str, str]()
        for mark in own:
            column = mark_prefix(question) + mark
            text = texts.get(mark) or words.text_of(column, "question") or words.answers(column).get("yes", mark)
            answers[mark] = " ".join(text.split())
            if mark in texts:  # told of the question, and so of its column
                features[column] = {**features.get(column, {}), "question": answers[mark]}
        features[question] = {**features.get(question, {}), "answers": answers}
    return replace(words, features=features)
