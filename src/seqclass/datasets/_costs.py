"""Prices in a file beside the data: a table with a row a feature, or JSON."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass._utils.files import read_json
from seqclass._utils.marks import mark_prefix
from seqclass._utils.text import join_names, near, sentence, short_repr
from seqclass._utils.validation import check_costs
from seqclass.datasets._tables import USUAL, CsvForm, header, read_frame, require_file

_COLUMNS = ("feature", "cost", "discounted", "group", "bundle", "delay", "after")
_VISITS = ("visit_cost", "delay_cost", "max_panel")
_DECISIONS = ("decision_costs", "decisions")
_KEYS = ("feature_costs", "discounted_costs", "groups", "bundles", "delays", *_VISITS, "prices_after", *_DECISIONS)


def find_costs_file(path: Path, stem: str) -> Path | None:
    """Costs file of a data file: STEM.costs.csv or STEM.costs.json in the same folder."""
    files = cost_files(path, stem)
    if len(files) > 1:
        raise ValueError(f"both {files[0]} and {files[1]} hold the costs of {path.name}; keep one.")
    return files[0] if files else None


def cost_files(path: Path, stem: str) -> list[Path]:
    """The files beside a data file that may hold its costs."""
    return [file for ending in ("csv", "json") if (file := path.with_name(f"{stem}.costs.{ending}")).is_file()]


def read_costs(
    path: Path,
    names: list[str],
    class_names: tuple[str, ...],
    *,
    rest: FloatArray | float | None = None,
    others: Collection[str] = (),
    form: CsvForm = USUAL,
) -> dict[str, Any]:
    """Read prices as fields of a `Dataset`."""
    require_file(path)
    if path.name.lower().endswith(".json"):
        content = _from_json(path)
    else:
        content = _from_table(path, names, others, form)
    return _settings(content, path, names, class_names, rest, others)


def _from_table(path: Path, names: list[str], others: Collection[str], form: CsvForm) -> dict[str, Any]:
    """A table as the JSON that says the same."""
    columns = header(path, form=form)
    if "feature" not in columns or "cost" not in columns or not set(columns) <= set(_COLUMNS):
        hint = "; 'discounted' is the price that is left, not what is taken off" if "discount" in columns else ""
        raise ValueError(
            f"{path} must have the columns feature and cost, and may have discounted, group, bundle, delay and "
            f"after{hint}; it has {join_names(columns)}."
        )
    frame = read_frame(path, text=_COLUMNS, form=form, names=("feature", "after"))
    frame = frame.dropna(how="all")  # spreadsheets leave empty rows behind
    if (nameless := frame["feature"].isna()).any():
        raise ValueError(f"{path}: row {nameless.idxmax()} names no feature; fill in its name, or leave the row out.")
    frame = frame[~frame["feature"].isin(list(others))]
    content: dict[str, Any] = {}
    if "after" in frame:  # such rows say what a feature costs once others were answered
        later = frame[frame["after"].notna()]
        frame = frame[frame["after"].isna()]
        content["prices_after"] = {
            (feature, *map(_condition, after.split(";"))): form.number(str(cost))
            for feature, after, cost in zip(later["feature"], later["after"], later["cost"])
        }
    # one row may be for all marks of a question
    marks = {own: [name for name in names if name.startswith(mark_prefix(str(own)))] for own in frame["feature"]}
    known, seen = set(names), set[str]()
    shown = [own if own in known else marks[own] or own for own in frame["feature"]]
    frame = frame.assign(feature=shown).explode("feature")
    frame["feature"] = frame["feature"].astype(str)
    for row, feature in zip(frame.index, frame["feature"]):
        if feature not in known:
            raise ValueError(
                f"{path}: row {row} names {short_repr(feature)}, which is not a feature; "
                f"{near(feature, names, 'they are')}"
            )
        if feature in seen:
            raise ValueError(f"{path}: row {row} gives {short_repr(feature)} a price for the second time.")
        seen.add(feature)
    for key, column in (("feature_costs", "cost"), ("discounted_costs", "discounted"), ("delays", "delay")):
        if column in frame and (column == "cost" or frame[column].notna().any()):
            content[key] = _numbers(frame, column, path, form)
    for column in ("group", "bundle"):
        if column in frame:
            cells = zip(frame["feature"], frame[column])
            content[f"{column}s"] = {feature: label if isinstance(label, str) else None for feature, label in cells}
    return content


def _condition(text: str) -> Any:
    """What has to be answered, ``"history"``, or how, ``"history=bad"``."""
    column, equals, answer = (part.strip() for part in text.partition("="))
    return (column, answer) if equals else column


def _numbers(frame: Any, column: str, path: Path, form: CsvForm) -> dict[str, float | None]:
    """Numbers of a column by feature; of an empty cell, which is a price that is not known, none."""
    values: dict[str, float | None] = {}
    for row, feature, text in zip(frame.index, frame["feature"], frame[column]):
        values[feature] = value = form.number(text) if isinstance(text, str) else None
        if value is not None and not 0 <= value < np.inf:
            raise ValueError(
                f"{path}: column {short_repr(column)} must hold numbers of at least 0, but row {row} ({feature}) "
                f"has {short_repr(text)}."
            )
    return values


def _from_json(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: line {error.lineno}, column {error.colno} is no JSON: {error.msg}.") from error
    except RecursionError as error:
        raise ValueError(f"{path} is nested too deeply for costs.") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {sentence(error)}") from error
    if not isinstance(content, dict) or not content or not set(content) <= set(_KEYS):
        there = join_names(content) if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"{path} must hold an object with some of {', '.join(_KEYS)}; it holds {there or 'nothing'}.")
    return content


def _settings(
    content: dict[str, Any],
    path: Path,
    names: list[str],
    class_names: tuple[str, ...],
    rest: FloatArray | float | None,
    others: Collection[str],
) -> dict[str, Any]:
    """Prices by feature as fields of a `Dataset`."""
    settings: dict[str, Any] = {}
    for key in ("feature_costs", "discounted_costs", "delays"):
        if content.get(key) is not None:
            complete = key == "feature_costs" and rest is None
            values = _by_feature(content[key], key, names, path, others, complete=complete)
            numbers = np.array([_price(value, key, name, path) for value, name in zip(values, names)])
            # what is not said costs the rest, what has no discount its full price, and nobody waits for it
            full = settings.get("feature_costs", np.nan)
            usual = {"feature_costs": rest, "discounted_costs": full, "delays": 0.0}[key]
            usual = np.nan if rest is None and key != "delays" else usual
            settings[key] = np.where(np.isnan(numbers), usual, numbers)
    for key in ("groups", "bundles"):
        if content.get(key) is not None:
            labels = _by_feature(content[key], key, names, path, others, complete=False)
            if wrong := [label for label in labels if isinstance(label, (list, dict))]:
                raise ValueError(f"{path}: {key} must be texts or numbers, but one is {short_repr(wrong[0])}.")
            settings[key] = tuple(labels)
    if content.get("prices_after") is not None:
        settings["prices_after"] = content["prices_after"]
    for key in _VISITS:
        if (value := content.get(key)) is not None:
            whole = key == "max_panel"
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not value >= whole:
                what = "a whole number of at least 1" if whole else "a number of at least 0"
                raise ValueError(f"{path}: {key} must be {what}, not {short_repr(value)}.")
            settings[key] = value
    if content.get("decision_costs") is not None:
        labels = content.get("decisions") or []
        if not isinstance(labels, list):
            raise ValueError(f"{path}: decisions must be a list of labels, not {short_repr(labels)}.")
        further = tuple(map(str, labels))
        shape = (len(class_names), len(class_names) + len(further))
        what = f"{path}: decision_costs (rows: {join_names(class_names)}; further columns: decisions)"
        settings |= {"decision_costs": check_costs(content["decision_costs"], what, shape), "decisions": further}
    return check_prices(settings, names, str(path))


def _by_feature(
    value: Any, key: str, names: list[str], path: Path, others: Collection[str], complete: bool
) -> list[Any]:
    """One entry a feature, of a number, a list or an object by name; None for those an object leaves out."""
    if isinstance(value, dict):
        known = {*names, *others}
        unknown = [feature for feature in value if feature not in known]
        if unknown:
            raise ValueError(
                f"{path}: {key} names {short_repr(unknown[0])}, which is not a feature; "
                f"{near(unknown[0], names, 'they are')}"
            )
        if complete and (absent := [name for name in names if name not in value]):
            raise ValueError(
                f"{path} names {len(names) - len(absent)} of {len(names)} features, and not {short_repr(absent[0])}; "
                "name every one, and leave the price empty where it is not known."
            )
        return [value.get(name) for name in names]
    if isinstance(value, list):
        if len(value) != len(names):
            raise ValueError(f"{path}: {key} has {len(value)} entries for {len(names)} features.")
        return value
    return [value] * len(names)


def _price(value: Any, key: str, name: str, path: Path) -> float:
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < np.inf:
        raise ValueError(
            f"{path}: {key} must be numbers of at least 0, but {short_repr(name)} has {short_repr(value)}."
        )
    return float(value)


def check_prices(settings: dict[str, Any], names: list[str], origin: str) -> dict[str, Any]:
    """Refuse discounts without groups, or above the price."""
    full, discounted, groups = (settings.get(key) for key in ("feature_costs", "discounted_costs", "groups"))
    if discounted is not None and groups is None:
        raise ValueError(f"{origin} gives discounts but no groups: say which features share them.")
    if discounted is not None and full is None:
        raise ValueError(f"{origin} gives discounts but no prices.")
    if discounted is not None and full is not None and (discounted > full).any():
        j = int((discounted > full).argmax())
        raise ValueError(
            f"{origin}: the discounted price of {short_repr(names[j])} is {discounted[j]:g}, above its full "
            f"price {full[j]:g}."
        )
    return settings
