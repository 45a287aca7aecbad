"""Banks of test items for ``seqclass plan``: how they are read, with cut scores and areas, and plans for a score."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray
from seqclass._utils.text import join_names
from seqclass.agent.provenance import source_of
from seqclass.cli._errors import InputError, as_input_errors
from seqclass.cli._format import count, echo_json, wrap
from seqclass.cli._progress import show_progress
from seqclass.cli._training import header, non_default_options, pick, read_frame, read_rules
from seqclass.exams import ItemParameters, ItemResponse, SkillProfile, estimate
from seqclass.exams.item_parameters import NAMING, UNNAMED, columns_read, with_row_names
from seqclass.pomdp.rules import Rules


def read_bank(
    file: Path,
    skills: tuple[str, ...],
    cuts: tuple[str, ...],
    levels: tuple[str, ...],
    areas: tuple[str, ...],
    drop: tuple[str, ...],
    rules: Path | None,
    skip_logic: Path | None,
) -> tuple[ItemResponse | SkillProfile, dict[str, Any], list[str]]:
    """A bank of items, what is to be asked of its areas, as settings, and what was understood."""
    frame = read_frame(file, names=[name for name in header(file) if name.lower() in NAMING])
    frame = _with_row_names(file, frame)
    for name in drop:
        pick(name, list(map(str, frame.columns)), file, "--drop")
    frame = frame.drop(columns=list(drop))
    by_skill = {"guess", "slip"} <= set(frame.columns.astype(str).str.lower())
    if by_skill and (cuts or len(skills) > 1):
        raise InputError(f"{file} is a bank of skills: name one with --target, or none, and no --cut or --score.")
    if not by_skill and skills:
        raise InputError(f"--target is not for a bank of items without skills, which {file} is.")
    if not by_skill and not cuts:
        raise InputError(
            "name the abilities at which the next class begins with --cut, such as --cut 0, or what to estimate with "
            "--score."
        )
    cut_texts: list[str] = []
    with as_input_errors(str(file)):
        if by_skill:
            labels: Any = list(levels) or (None if skills else "skills")
            model: Any = SkillProfile.from_items(frame, target=next(iter(skills), None), labels=labels)
            parameters = ["guess", "slip", *model.q_matrix.columns]
            read = NAMING.union(map(str.lower, parameters))
            passed = [str(name) for name in frame.columns if str(name).lower() not in read]
        else:
            items = ItemParameters.from_table(frame)
            abilities = [_ability(items, cut) for cut in cuts]
            between = [f"{low} to {high}" for low, high in pairwise(cuts)]
            labels = list(levels) or [f"below {cuts[0]}", *between, f"{cuts[-1]} or above"]
            model = ItemResponse.from_items(items, abilities, labels=labels)
            parameters, passed = columns_read(frame)
            what = "items are expected to be right" if items.n_outcomes.max() == 2 else "points are expected"
            for ability, right in zip(abilities, _share_right(items, abilities).tolist()):
                cut_texts.append(f"At the ability of {ability:g}, where a class begins, {right:.0%} of all {what}.")
    limits, sizes, column = _areas(file, frame, item_names(model), areas)
    own = read_rules(rules, skip_logic)
    with as_input_errors():
        given = Rules.from_value(own.get("rules")) or Rules()
        settings = {"rules": replace(given, areas={**given.areas, **limits})}
    passed = [name for name in passed if name != column]
    read_text = f"Read of each item: {', '.join(parameters)}{sizes}"
    return model, settings, [f"{read_text}{'; passed over: ' + ', '.join(passed) if passed else ''}.", *cut_texts]


def _with_row_names(file: Path, frame: Any) -> Any:
    """A table with the names of its rows, where its first column has them and has no name itself."""
    import pandas as pd

    first = "column 1"  # as such a column is called
    if first in frame or first not in (rows := read_frame(file, [first], row_names=True)):
        return frame
    numbers = pd.to_numeric(rows[first], errors="coerce")
    frame.insert(0, UNNAMED, numbers if numbers.notna().all() else rows[first])
    return with_row_names(frame)


def _areas(
    file: Path, frame: Any, items: list[str], areas: tuple[str, ...]
) -> tuple[dict[str, dict[str, Any]], str, str | None]:
    """What is to be asked of areas, how many items each has in words, and the column that names them."""
    column = next((name for name in frame.columns if str(name).lower() == "area"), None)
    names = np.array(items)
    area = np.full(len(names), "") if column is None else frame[column].fillna("").astype(str).str.strip().to_numpy()
    there = sorted({*area.tolist()} - {""})
    limits: dict[str, dict[str, Any]] = {}
    for text in areas:
        name, _, limit = text.rpartition("=")
        least, _, most = limit.partition(":")
        if not name or not all(one.strip().isdigit() or not one for one in (least, most)):
            raise InputError(f"--area {text}: write NAME=LEAST:MOST, either number of which may lack.")
        if column is None:
            raise InputError(f"--area {text}: {file} has no column 'area'; it has {join_names(list(frame.columns))}.")
        if name not in there:
            raise InputError(f"--area {text}: no item is of that area; there are {join_names(there)}.")
        if like := [other for other in there if other != name and other.casefold() == name.casefold()]:
            raise InputError(
                f"--area {text}: {file} has {join_names([name, *like])}, which differ in capitals; write them alike."
            )
        ends = {"at_least": least, "at_most": most}
        limits[name] = {"items": names[area == name].tolist()} | {key: int(one) for key, one in ends.items() if one}
    sizes = [f"{name or 'without one'} {n}" for name, n in sorted(Counter(area.tolist()).items())]
    return limits, "" if column is None else f"; areas: {', '.join(sizes)}", column


def item_names(model: ItemResponse | SkillProfile) -> list[str]:
    """Names of the items of a bank."""
    return list(model.feature_names_ or (f"x{j}" for j in range(model.n_features_in_)))


def _share_right(items: ItemParameters, abilities: npt.ArrayLike) -> FloatArray:
    """Of all points that a bank has to give, the share that is expected at each ability."""
    chance = items.probabilities(abilities)
    worth = np.arange(chance.shape[1]) / np.maximum(items.n_outcomes - 1, 1)[:, None]
    return np.asarray(np.einsum("iot,io->t", chance, worth) / len(items))


def _ability(items: ItemParameters, cut: str) -> float:
    """A cut score, which is an ability or the share of all items that is expected to be right there."""
    text, abilities = cut.strip(), np.linspace(-6, 6, 12_001)  # standard deviations, by thousandths
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(f"--cut {cut}: write an ability, such as 0.5, or the share of all items right, such as 60%.")
    if not text.endswith("%") and abs(number) > abilities[-1]:
        hint = f" A share of all items right is written {number:g}%." if 0 < number < 100 else ""
        raise ValueError(f"--cut {cut}: an ability, which is 0 on average with a standard deviation of 1.{hint}")
    if not text.endswith("%"):
        return number
    right = _share_right(items, abilities)
    if not right[0] < number / 100 < right[-1]:
        ends = f"{right[0]:.0%} to {right[-1]:.0%}"
        raise ValueError(f"--cut {cut}: of all items {ends} are expected to be right, whatever the ability.")
    return round(float(abilities[np.argmax(right >= number / 100)]), 3)


def _scale(text: str) -> tuple[float, float]:
    """What abilities of 0 and 1 are on the scale of reports, by its mean and standard deviation."""
    mean, _, sd = text.partition(":")
    try:
        return float(mean), float(sd)
    except ValueError:
        raise InputError(f"--scale {text}: write MEAN:SD, such as 500:100.") from None


def plan_score(
    file: Path,
    output: Path,
    target: str,
    standard_error: float | None,
    scale: str | None,
    areas: tuple[str, ...],
    drop: tuple[str, ...],
    rules: Path | None,
    *,
    price: float | None,
    max_features: int | None,
    seed: int,
    as_json: bool,
    n_persons: int = 500,
) -> None:
    """Plan for a score, save the plan, and say what it takes of persons drawn from the bank."""
    if price is None and standard_error is None and max_features is None:
        raise InputError(
            "say when a score is good enough: by --standard-error, --max-features or the --price of an item."
        )
    model, settings, notes = read_bank(file, (), ("0",), (), areas, drop, rules, None)
    more = non_default_options(price=price, standard_error=standard_error, max_items=max_features)
    if scale is not None:
        more["scale"] = _scale(scale)
    with as_input_errors(), show_progress("planning"):
        source, digest = source_of(file)
        plan = estimate(model, target=target, random_state=seed, **more, **settings)
        plan.classifier.provenance_ = replace(plan.classifier.provenance_, source=source, digest=digest)
        plan.save(output)
        drawn = plan.acquire(model.sample(n_persons, random_state=seed)[0])
    n_items, error = drawn.n_items, drawn.standard_error
    notes = [notes[0]]
    if standard_error is not None and (n_above := int((error > standard_error).sum())):
        end = "" if price or max_features else ", asked all there is: --max-features or --price ends that sooner"
        notes.append(f"{count(n_above, 'of them ends', 'of them end')} above {standard_error:g}{end}.")
    if as_json:
        figures = {"n_items": float(n_items.mean()), "standard_error": float(error.mean())}
        echo_json({"score": target, **figures, "output": str(output), "notes": notes})
        return
    click.echo(f"Planned for {file}: a score of {target}, from {count(len(item_names(model)), 'item')}.")
    click.echo(wrap(notes[0]))
    asked = f"{n_items.mean():.1f} items are asked ({n_items.min()} to {n_items.max()})"
    asked += f", with a standard error of {error.mean():.3f} ({error.min():.3f} to {error.max():.3f}), in {drawn.unit}"
    click.echo(wrap(" ".join([f"Of {n_persons} persons drawn from the bank: {asked}.", *notes[1:]])))
    click.echo(f"\nWrote {output}. Next: seqclass ask {output}, or seqclass predict {output} ANSWERS.csv")
