"""Place a method beside those of the suite, print what the suite knows, record more, and renew its page.

    python -m benchmarks.suite my_method.py [--sets SET ...] [--prices P ...] [--folds N] [--keep FILE] [--data DIR]
    python -m benchmarks.suite [--against METHOD] [--prices P ...]
    python -m benchmarks.suite --record [METHOD ...] [--sets SET ...] [--prices P ...] [--folds N]
    python -m benchmarks.suite --page

A file of a method has one class with ``fit(X, y, prices)``, which learns from numbers (a data frame with categories and
missing cells, if the class says ``as_given = True``), classes 0, 1 and so on, and what each feature costs where an
error costs 1; and ``acquire(cases)``, which asks ``cases.ask(feature, rows)`` and returns a class for each of
``len(cases)``. It is run on the sets that are there and recorded, at the folds and prices that are recorded, and may
not see anything else: prices are counted by what it asks. ``--keep`` names a CSV of its results, and what is in it is
not run again. At hard budgets ("5 features") those are run that have an attribute ``budget``, which is set before fit.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from _real import add_data_option, data_folder

from benchmarks.suite import results, sets, standing
from benchmarks.suite.methods import METHODS, OURS, installed
from benchmarks.suite.page import PAGES, with_tables
from seqclass._utils.files import replace_file

#: Methods without figures in the suite, as they take long.
NOT_RECORDED = ("forward selection", "boosting on k best")


def main(arguments: Sequence[str] | None = None) -> None:
    made = argparse.ArgumentParser(
        "python -m benchmarks.suite", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("file", nargs="?", type=Path, help="a Python file with the class of a method")
    made.add_argument("--sets", nargs="+", metavar="SET", choices=sets.SETS, default=list(sets.SETS))
    made.add_argument("--prices", nargs="+", metavar="P", help="by default those that are recorded")
    made.add_argument("--folds", type=int, default=sets.RUN_FOLDS, help="the first so many of five (default 3)")
    made.add_argument("--keep", type=Path, help="file of the results of the method")
    made.add_argument("--against", default=OURS, choices=list(METHODS), metavar="METHOD")
    made.add_argument("--record", nargs="*", metavar="METHOD", help="run what the suite lacks, by default of all")
    made.add_argument("--page", action="store_true", help="print the tables of docs/suite.md and docs/results.md anew")
    add_data_option(made)
    told = made.parse_args(arguments)
    warnings.simplefilter("ignore")  # of convergence, and of columns without values
    if told.page:
        for page in PAGES:
            with replace_file(page) as temporary:
                temporary.write_text(with_tables(page.read_text("utf-8"), results.read()), "utf-8")
    elif told.record is not None:
        names = installed(told.record or [name for name in METHODS if name not in NOT_RECORDED])
        methods = {name: METHODS[name] for name in names}
        for fold in range(told.folds):
            there = sets.each(told.sets, data_folder(told))
            results.record(methods, there, [fold], told.prices or sets.PRICES)
    elif told.file is not None:
        name, make = loaded(told.file)
        show(place(name, make, told), name, told.prices)
    else:
        show(results.read(), told.against, told.prices)


def loaded(file: Path) -> tuple[str, Callable[[], Any]]:
    """The one class of a file that has fit and acquire, and its name."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise SystemExit(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [
        one
        for one in vars(module).values()
        if inspect.isclass(one)
        and one.__module__ == module.__name__
        and hasattr(one, "fit")
        and hasattr(one, "acquire")
    ]
    if len(found) != 1:
        raise SystemExit(f"{file} must have one class with fit and acquire, and has {len(found)}")
    return found[0].__name__, found[0]


def place(name: str, make: Callable[[], Any], told: argparse.Namespace) -> pd.DataFrame:
    """The lines of a method and of all others on the same folds."""
    recorded = standing.complete(results.read())
    if name in set(recorded["method"]):
        raise SystemExit(f"the suite has a method {name}: call the class by another name")
    with tempfile.TemporaryDirectory() as folder:
        file = told.keep or Path(folder, "own.csv")
        wanted = recorded[recorded["set"].isin(told.sets) & (recorded["fold"] < told.folds)]
        if told.prices:
            wanted = wanted[wanted["price"].isin(told.prices)]
        for data in sets.each(list(dict.fromkeys(wanted["set"])), data_folder(told)):
            for fold, lines in wanted[wanted["set"] == data.name].groupby("fold"):
                results.record({name: make}, [data], [int(fold)], list(dict.fromkeys(lines["price"])), file)
        own = results.read(file)
    both = recorded.merge(own[["set", "fold", "price"]], on=["set", "fold", "price"])
    return pd.concat([both, own[own["method"] == name]], ignore_index=True)


def show(frame: pd.DataFrame, base: str, prices: Sequence[str] | None) -> None:
    """Tables of some prices, by default of all."""
    if frame.empty:
        raise SystemExit("there is no fold that is recorded and of which the data are there: nothing to show")
    for price in prices or list(dict.fromkeys(frame["price"])):
        print(f"\n{standing.by_price_table(frame, price, base)}\n\n{standing.by_set_table(frame, price)}")


if __name__ == "__main__":
    main()
