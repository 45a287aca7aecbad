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
not run again as long as the file of the method is the same. At hard budgets ("5 features") those are run that have an
attribute ``budget``, which is set before fit. ``--record`` writes into results.csv of the suite.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import inspect
import shlex
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from _common import left_out
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
    folds = range(1, sets.N_FOLDS + 1)
    made.add_argument("file", nargs="?", type=Path, help="a Python file with the class of a method")
    made.add_argument("--sets", nargs="+", metavar="SET", choices=sets.SETS, default=list(sets.SETS))
    made.add_argument("--prices", nargs="+", metavar="P", type=spelt, help="by default those that are recorded")
    made.add_argument("--folds", type=int, choices=folds, metavar="N", help="the first so many of five (default 3)")
    made.add_argument("--keep", type=Path, help="file of the results of the method")
    made.add_argument("--against", default=OURS, choices=list(METHODS), metavar="METHOD")
    made.add_argument(
        "--record",
        nargs="*",
        metavar="METHOD",
        choices=list(METHODS),
        help="run what results.csv of the suite lacks, by default of all",
    )
    made.add_argument("--page", action="store_true", help="print the tables of docs/suite.md and docs/results.md anew")
    add_data_option(made)
    options = made.parse_args(arguments)
    warnings.simplefilter("ignore")  # of convergence, and of columns without values
    if unknown := [price for price in options.prices or () if price not in sets.SETTINGS]:
        raise SystemExit(f"--prices must be of {', '.join(sets.SETTINGS)}, got {', '.join(unknown)}")
    if options.data is not None and not options.data.is_dir():
        raise SystemExit(f"{options.data}, named by --data or SEQCLASS_DATA, is not a folder")
    if options.page:
        for page in PAGES:
            with replace_file(page) as temporary:
                temporary.write_text(with_tables(page.read_text("utf-8"), results.read()), "utf-8")
    elif options.record is not None:
        record(options)
    elif options.file is not None:
        place(options)
    else:
        show(recorded(options, sets.N_FOLDS), options.against)


def record(options: argparse.Namespace) -> None:
    """Run what the suite lacks, and say why where that is nothing."""
    names = installed(options.record or [name for name in METHODS if name not in NOT_RECORDED])
    methods = {name: METHODS[name] for name in names}
    there, prices = list(sets.each(options.sets, data_folder(options))), options.prices or sets.PRICES
    runs = [results.record(methods, there, [fold], prices) for fold in range(options.folds or sets.RUN_FOLDS)]
    if any(run.written or run.failed for run in runs):
        return
    if lines := sum(run.there for run in runs):
        print(f"nothing to record: {standing.number(lines, 'line')} of these are in {results.FILE.name}")
    elif there and methods:
        print(f"nothing to record: none of these sets and methods goes with {', '.join(prices)}")
    else:
        print(f"nothing to record: none of these {'methods' if there else 'sets'} can be run here")


def recorded(options: argparse.Namespace, folds: int) -> pd.DataFrame:
    """The lines of the suite at the sets, folds and prices that are asked for."""
    frame = standing.complete(results.read())
    frame = frame[frame["set"].isin(options.sets) & (frame["fold"] < (options.folds or folds))]
    named = [] if options.sets == list(sets.SETS) else options.sets
    lacking = [price for price in options.prices or () if price not in set(frame["price"])]
    if lacking or frame.empty:
        own = (["--sets", *named] if named else []) + (["--prices", *lacking] if lacking else [])
        raise SystemExit(
            f"nothing is recorded {'at ' + ', '.join(lacking) if lacking else 'of these sets'}: "
            f"`python -m benchmarks.suite --record {shlex.join(own)}` runs all methods there first"
        )
    for name in named:
        if name not in set(frame["set"]):
            left_out(name, "nothing is recorded of it")
    return frame[frame["price"].isin(options.prices)] if options.prices else frame


def spelt(price: str) -> str:
    """A price as the suite spells it: .01 and 0.010 are 0.01."""
    with contextlib.suppress(ValueError):
        return f"{float(price):g}"
    return price


def loaded(file: Path) -> tuple[str, Callable[[], Any]]:
    """The one class of a file that has fit and acquire, and its name."""
    spec = importlib.util.spec_from_file_location("method_of_the_suite", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where data classes look for it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SystemExit(f"{file} cannot be loaded: {results.said(error, file)}") from error
    lacks = {
        name: [call for call in ("fit", "acquire") if not hasattr(one, call)]
        for name, one in vars(module).items()
        if inspect.isclass(one) and one.__module__ == spec.name
    }
    whole = [name for name, missing in lacks.items() if not missing]
    if len(whole) != 1:
        parts = "; ".join(f"{name} has no {' and no '.join(missing)}" for name, missing in lacks.items() if missing)
        has = f"it has {', '.join(whole)}" if whole else parts or "it has no class"
        raise SystemExit(f"{file} must have one class with fit and acquire: {has}")
    make = getattr(module, whole[0])
    try:
        one = make()
    except Exception as error:
        raise SystemExit(f"{whole[0]} must be made without arguments: {results.said(error, file)}") from error
    for call, given in {"fit": ("X", "y", "prices"), "acquire": ("cases",)}.items():
        try:
            inspect.signature(getattr(one, call)).bind(*given)
        except TypeError as error:
            raise SystemExit(f"{whole[0]}.{call} must take {', '.join(given)}: {error}") from error
    return whole[0], make


def check_kept(file: Path) -> None:
    """Refuse what cannot be a file of results of a method, before anything is run."""
    if not file.parent.is_dir():
        raise SystemExit(f"--keep {file}: there is no folder {file.parent}")
    if file.exists():
        head = file.read_text("utf-8", errors="replace").partition("\n")[0] if file.is_file() else ""
        if head != ",".join(results.COLUMNS) or file.samefile(results.FILE):
            raise SystemExit(f"--keep {file} is not a file of results of a method: name another one")


def place(options: argparse.Namespace) -> None:
    """Run a method where the suite has all others, and show it beside them."""
    if options.file.suffix != ".py" or not options.file.is_file():
        raise SystemExit(f"{options.file} is not {'a Python file' if options.file.is_file() else 'there'}")
    wanted, source = recorded(options, sets.RUN_FOLDS), results.Source.of(options.file)
    name, make = loaded(options.file)
    if name in METHODS:
        raise SystemExit(f"the suite has a method {name}: call the class by another name")
    if options.keep:
        check_kept(options.keep)
    key, failed, tried = ["set", "fold", "price"], [], 0
    with tempfile.TemporaryDirectory() as folder:
        file = options.keep or Path(folder, "own.csv")
        kept = own_lines(file, name, source)
        if n := kept.merge(wanted[key].drop_duplicates(), on=key)["set"].nunique():
            print(f"taken from {file}: {standing.number(n, 'set')}")
        if lost := set(kept["price"]) - set(standing.complete(results.read())["price"]):
            print(f"left out of {file}: prices that no other method has, {', '.join(sorted(lost))}")
        for data in sets.each(list(dict.fromkeys(wanted["set"])), data_folder(options)):
            for fold, lines in wanted[wanted["set"] == data.name].groupby("fold"):
                prices = list(dict.fromkeys(lines["price"]))
                failed += results.record({name: make}, [data], [int(fold)], prices, file, source).failed
                tried += 1
        own = own_lines(file, name, source).merge(wanted[key].drop_duplicates(), on=key)
    bad = list(dict.fromkeys(where for where, _ in failed))
    own = own[~own["set"].isin(bad)]
    if own.empty:
        why = f"{name} has no attribute budget" if tried else "the data of none of these sets are there"
        why = f"{name} failed on {len(failed)} of {standing.number(tried, 'fold')}" if failed else why
        raise SystemExit(f"nothing to show: {why}")
    show(pd.concat([wanted.merge(own[key], on=key), own], ignore_index=True), name)
    if bad:
        n = own["set"].nunique() + len(bad)
        print(f"\n{name} failed on {len(bad)} of {standing.number(n, 'set')}: {', '.join(bad)}; left out of all means")
        raise SystemExit(1)


def own_lines(file: Path, name: str, source: results.Source) -> pd.DataFrame:
    """The lines of a file that are of a method as it is now."""
    frame = results.read(file)
    return frame[(frame["method"] == name) & (frame["version"] == source.version)]


def show(frame: pd.DataFrame, base: str) -> None:
    """Tables of all prices, and what their intervals are."""
    if base not in set(frame["method"]):
        raise SystemExit(f'nothing is recorded of {base}: `python -m benchmarks.suite --record "{base}"` runs it first')
    for price, lines in frame.groupby("price", sort=False):
        if len(methods := set(lines["method"])) == 1:
            beside = f"At {price} only {methods.pop()} is recorded."
        else:
            beside = f"{standing.by_price_table(frame, price, base)}\n\n{standing.caption(frame, price, base)}"
        print(f"\n{beside}\n\n{standing.by_set_table(frame, price)}")


if __name__ == "__main__":
    main()
