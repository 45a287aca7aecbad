"""``seqclass compare``: methods on data sets at prices, by cross-validation."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from seqclass._utils.text import short_repr
from seqclass.cli._errors import InputError, as_input_errors, as_options, check_output
from seqclass.cli._format import count, echo_json, table
from seqclass.cli._progress import is_shown
from seqclass.cli._training import form, non_default_options, read_decision_costs
from seqclass.datasets import Dataset, list_datasets, load
from seqclass.datasets._tables import CsvForm
from seqclass.datasets.catalog import data_files
from seqclass.experiment import Experiment, Results, SourceSplit
from seqclass.experiment.comparison import Comparison
from seqclass.experiment.protocols import HoldOut, StratifiedFolds
from seqclass.experiment.results import METRICS

#: What the library's messages call things that are options here.
_OPTIONS = {
    "; name it as target": "; name it by --target",
    "pass --": "give --",
    "rename one by dataclasses.replace": "give each once, and files of one name another name",
    "feature_costs='dataset'": "--dataset-costs",
    "visits: ": "",
    "use another cv, such as cv=5": "use --folds, or --split 60/20/20",
}
#: Where data come from that have no columns to choose.
_WITHOUT_COLUMNS = ("embedded", "generated")
#: Exit code where some cells failed, and others have their figures.
_SOME_FAILED = 5
_NAMED = re.compile(r"([^=(:]+)=(.+)", re.DOTALL)


def _command(
    data: tuple[str, ...],
    methods: tuple[str, ...],
    prices: tuple[float, ...],
    costs: Path | None,
    dataset_costs: bool,
    decision_costs: Path | None,
    visit_cost: float | None,
    delay_cost: float | None,
    max_panel: int | None,
    budgets: tuple[int, ...],
    known: tuple[str, ...],
    missing_cost: float | None,
    folds: int | None,
    split: str | None,
    seeds: tuple[int, ...],
    target: str | None,
    drop: tuple[str, ...],
    data_dir: Path | None,
    jobs: int,
    output: Path,
    currency: str | None,
    as_csv: bool,
    as_json: bool,
    **how: Any,
) -> None:
    _exclusive({"--csv": as_csv, "--json": as_json})
    _exclusive({"--costs": costs, "--dataset-costs": dataset_costs})
    _exclusive({"--folds": folds, "--split": split})
    if jobs == 0:
        raise InputError("--jobs must not be 0.")
    with _in_options(), as_input_errors():
        check_output(output, read=[*data_files(data, data_dir), costs, decision_costs])
        experiment = Experiment(
            _load(data, data_dir, {"target": target, "drop": drop, "costs": costs}, decision_costs),
            _methods_by_name(methods or Experiment.methods),
            prices=prices or None,
            cv={"source": SourceSplit(), "60/20/20": HoldOut()}.get(split or "", StratifiedFolds(folds or 5)),
            seeds=seeds or (0,),
            feature_costs="dataset" if dataset_costs or costs is not None else "uniform",
            missing_cost=missing_cost,
            visits=non_default_options(visit_cost=visit_cost, delay_cost=delay_cost, max_panel=max_panel) or None,
            budgets=budgets or None,
            known=known,
        )
        results = experiment.run(output, n_jobs=jobs, progress=is_shown(), **how)
    _report(Results(results.path, results.keys, currency or ""), as_csv, as_json)


@contextmanager
def _in_options() -> Iterator[None]:
    """Say of an input that is refused by which option it is put right."""
    try:
        yield
    except InputError as error:
        message = error.message
        for words, option in _OPTIONS.items():
            message = message.replace(words, option)
        raise InputError(message) from error


def _load(
    data: tuple[str, ...], data_dir: Path | None, settings: Mapping[str, Any], decision_costs: Path | None
) -> list[Dataset]:
    """Data sets by their names; the settings are those of files."""
    given = {name: value for name, value in settings.items() if value}
    written = {} if form() == CsvForm() else asdict(form())
    sources = list_datasets(data_dir)
    files = [name for name in data if sources.get(name) not in _WITHOUT_COLUMNS]
    if given and not files:
        raise InputError(f"{' and '.join(f'--{name}' for name in given)}: none of the data is a file.")
    loaded = []
    for name in data:
        how = {} if name not in files else given if name.startswith("openml:") else given | written
        dataset = load(name, data_dir, **how)
        if decision_costs is not None:
            costs = read_decision_costs(decision_costs, np.array(dataset.class_names))
            decisions = tuple(costs["decisions"] or ())
            dataset = replace(dataset, decision_costs=costs["decision_costs"], decisions=decisions)
        loaded.append(dataset)
    return loaded


def _exclusive(given: Mapping[str, Any]) -> None:
    if all(given.values()):
        raise InputError(f"{' and '.join(given)} exclude each other.")


def _methods_by_name(methods: tuple[str, ...]) -> Mapping[str, str]:
    """Methods by name; each names itself unless a name stands before it."""
    by_name: dict[str, str] = {}
    for text in methods:
        match = _NAMED.fullmatch(text.strip())
        name, method = match.groups() if match else (text.strip(), text)
        if name in by_name:
            raise InputError(f"--method: two are called {short_repr(name)}; name one as in NAME={method}.")
        by_name[name] = method
    return by_name


def _report(results: Results, as_csv: bool, as_json: bool) -> None:
    cells = results.to_frame()
    failed = cells[cells["error"] != ""]
    if as_csv:
        click.echo(cells.to_csv(), nl=False)
    elif as_json:
        rows = [{"key": key, **row} for key, row in zip(cells.index, cells.to_dict("records"))]
        summary, compared = results.summary().to_dict("records"), _compare(results, cells, failed)
        pairs: dict[str, Any] = {"differences": [], "differences_over": {}}
        if compared is not None and not isinstance(compared, str):
            pairs["differences"] = compared.differences.to_dict("records")
            pairs["differences_over"] = {"price": compared.prices, "budget": compared.budgets}
        echo_json({"run": str(results.path), "unit": results.unit or None, "summary": summary, **pairs, "cells": rows})
    else:
        _print_summary(results, cells, failed)
    if len(failed) == len(cells):
        raise InputError(f"all {count(len(cells), 'cell')} failed; the first: {failed['error'].iloc[0]}")
    if len(failed):
        click.get_current_context().exit(_SOME_FAILED)


def _print_summary(results: Results, cells: Any, failed: Any) -> None:
    refers = ["referred"] if (cells["referred"] > 0).any() else []
    summary = results.summary(metrics=[*METRICS, *refers])
    rows = []
    for row in summary.to_dict("records"):
        scored = [_interval(row, name) for name in ("realised_cost", "accuracy")]
        scored += [f"{row[name]:.4f}" for name in refers]
        plain = [f"{row['n_features_mean']:.2f}", f"{row['paid_mean']:.4f}"]
        shown = [*scored, *plain] if row["n_cells"] > row["n_failed"] else ["-"] * (4 + len(refers))
        limit = [f"{row['budget']:g}"] if "budget" in summary else []
        rows.append([row["data"], row["method"], f"{row['price']:g}", *limit, *shown, f"{row['n_cells']}"])
    limits = ["budget"] if "budget" in summary else []
    unit = f" ({results.unit})" if results.unit else ""
    header = ["data", "method", results.price_name(cells), *limits, f"realised cost{unit}", "accuracy", *refers]
    header += ["features", f"paid{unit}", "cells"]
    click.echo(table(header, rows, left=(0, 1)))
    click.echo("\nMeans over folds and seeds, in brackets their 95% intervals; cells that failed are left out.")
    compared = as_options(str(_compare(results, cells, failed) or ""))
    if compared:
        click.echo("\n" + textwrap.indent(compared, "  "))
    for column, verb in (("warnings", "warned"), ("error", "failed")):
        for (data, method, text), group in cells.groupby(["data", "method", column], sort=False):
            if text:
                first = text.splitlines()[0]
                click.echo(f"\n{count(len(group), 'cell')} of {method} on {data} {verb}: {first[:200]}")
    names = ("seqclass", "numpy", "sklearn", "python")
    ours, *others = (f"{name} {cells[f'version_{name}'].iloc[-1]}" for name in names)
    click.echo(f"\n{count(len(cells), 'cell')} in {results.path}; computed with {ours}\n({', '.join(others)}).")


def _compare(results: Results, cells: Any, failed: Any) -> Comparison | str | None:
    """How several methods compare, or why they do not; None of one method."""
    if cells["method"].nunique() < 2 or len(failed) == len(cells):
        return None
    try:
        return results.compare()
    except ValueError as error:
        return f"nothing to compare: {error}"


def _interval(row: Mapping[str, Any], name: str) -> str:
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    ends = "" if low != low else f" [{low:.4f}, {high:.4f}]"
    return f"{row[name]:.4f}{ends}"
