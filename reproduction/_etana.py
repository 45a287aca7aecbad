"""ETANA and F-ETANA: Liyanage, Zois and Chelmis, "On-the-fly joint feature selection and classification"."""

from __future__ import annotations

from collections.abc import Mapping

from reproduction import _rough_sets
from reproduction._methods import SELECTORS, FETANASteps, selected
from reproduction.comparison import ComparisonTable, Entry
from reproduction.pictures import LinePicture, RegionPicture
from reproduction.regions import RegionsTable
from reproduction.table import Table, figures

_METHODS = ("ETANA", "F-ETANA", "SAOLA", "Fast-OSFS", "OSFS", "Alpha-investing")
_SETS = ("Madelon", "MLL", "Lung2")
_ABSENT = ("Lung Cancer", "Dexter", "Car", "News20")
_STREAMS = (*_rough_sets.NAMES, *_METHODS[2:])
_NOTE = _rough_sets.NOTE
_BINS = (2, 3, 5, 10, 20, 30, 40, 50, 100)
_OF_BINS = ("accuracy", "features", "train, s")
#: Simulated paths a step, and steps, of F-ETANA: ours, fewer, more, and the paper's number of steps.
_STEPS = (
    *((1, 300), (10, 300), (100, 300), (300, 300), (1000, 300), (3000, 300), (10_000, 300)),
    *((1000, 1), (1000, 30), (1000, 100), (1000, 1000), (100, 100_000)),
)
_PRICES = (0.1, 0.08, 0.06, 0.04, 0.02, 0.01, 0.001, 0.0)

_ACCURACY = figures(
    """
    Madelon  0.6233 0.555  0.5817 0.5417 0.5817 0.6050
    MLL      1.00   1.00   0.8667 0.8000 0.8000 0.9333
    Lung2    0.8720 0.8818 0.8817 0.8420 0.8471 0.8820
    """,
    _METHODS,
)
_FEATURES = figures(
    """
    Madelon  4.09  211.21 3    3   3   4
    MLL      5.07  10.8   28   5   3   7
    Lung2    13.77 71.66  28.2 9.4 5.8 34.4
    """,
    _METHODS,
)
_SCORES = {
    "accuracy": {**_ACCURACY, **_rough_sets.ETANA["accuracy"]},
    "features": {**_FEATURES, **_rough_sets.ETANA["features"]},
}
#: Selection and classification together, or classification alone of what was selected before.
_CLASSIFY_S = figures(
    """
    Madelon  0.062 3.678 0.025 0.025 0.026 0.024
    MLL      0.001 0.001 0.045 0.025 0.025 0.023
    Lung2    -     0.071 0.017 0.017 0.012 0.017
    """,
    _METHODS,
)
#: Training, of the selectors with the selection.
_TRAIN_S = figures(
    """
    Madelon  0.141  0.34  0.574 0.628 0.64   0.481
    MLL      15.376 2.28  3.487 1.907 9.763  0.892
    Lung2    715.03 7.713 1.370 1.801 29.007 0.454
    """,
    _METHODS,
)
#: Figures of the authors' published code at price 0.01, 3 bins and 10 levels, at our folds.
CODE: Mapping[tuple[str, str], Mapping[str, float]] = {
    ("MLL", "ETANA"): {"accuracy": 1.000, "features": 5.07, "train, s": 38.0},
    ("MLL, 5 folds", "ETANA"): {"accuracy": 0.875, "features": 5.12},
    ("Madelon", "ETANA"): {"accuracy": 0.602, "features": 4.61},
    ("colon, discrete", "ETANA"): {"accuracy": 0.826, "features": 4.56},
    ("breast cancer", "ETANA"): {"accuracy": 0.907, "features": 2.17},
    ("MLL", "F-ETANA"): {"accuracy": 0.933, "features": 789.0},
    ("colon, discrete", "F-ETANA"): {"accuracy": 0.842, "features": 9.2},
    ("breast cancer", "F-ETANA"): {"accuracy": 0.457, "features": 30.0},
}
RECIPES = {"ETANA": "etana", "F-ETANA": "f_etana", "IFC2F": "ifc2f"}


def recipe(data: str, method: str, paper: Mapping[str, float], code: Mapping[str, float]) -> Entry:
    """Entry of a recipe, with its figures."""
    name = RECIPES[method]
    return Entry(data, method, f"{name}(published=True)", name, paper=paper, code=code)


def streaming(data: str, method: str, paper: Mapping[str, float]) -> Entry:
    """Entry of a streaming selector before nearest neighbours, with its figures."""
    make = (_rough_sets.SELECTORS | SELECTORS)[method]
    return Entry(data, method, selected(make("codes"), "KNN"), selected(make("groups"), "KNN"), paper=paper)


def _entries(quoted: Mapping[str, Mapping[tuple[str, str], float]], methods: tuple[str, ...]) -> tuple[Entry, ...]:
    found = []
    for data in _SETS:
        for method in methods:
            paper = {quantity: values[data, method] for quantity, values in quoted.items()}
            if method in RECIPES:
                found.append(recipe(data, method, paper, CODE.get((data, method), {})))
            else:
                found.append(streaming(data, method, paper))
    return tuple(found)


def _bins(method: str, data: str, n_bins: int) -> Entry:
    name = RECIPES[method]
    texts = f"{name}(published=True, n_bins={n_bins})", f"{name}(n_bins={n_bins})"
    return Entry(data, f"{method}, {n_bins} bins", *texts)


def bins_table(name: str, title: str, method: str, sets: tuple[str, ...], bins: tuple[int, ...], absent: str) -> Table:
    """Accuracy, features and training time by the number of bins."""
    return ComparisonTable(
        name=name,
        title=title,
        note="The paper prints a picture without figures.",
        absent=tuple(absent.split(", ")),
        entries=tuple(_bins(method, data, n_bins) for data in sets for n_bins in bins),
        quantities=_OF_BINS,
        picture=LinePicture("bins", {f"{method}, {n} bins": (method, n) for n in bins}, _OF_BINS, log=True),
    )


TABLES: tuple[Table, ...] = (
    ComparisonTable(
        "etana-2",
        "Table 2: accuracy at price 0.01",
        _NOTE,
        _ABSENT,
        _entries(_SCORES, (*_METHODS[:2], *_STREAMS)),
        ("accuracy",),
    ),
    ComparisonTable(
        "etana-3",
        "Table 3: mean number of features at price 0.01",
        _NOTE,
        _ABSENT,
        _entries(_SCORES, (*_METHODS[:2], *_STREAMS)),
        ("features",),
    ),
    ComparisonTable(
        "etana-4a",
        "Table 4: seconds of ETANA and F-ETANA, selecting and classifying together, and training",
        "Training is solving for the stopping rule. The paper's times are from another machine: compare ratios. "
        "The paper's time to select and classify by ETANA on Lung2 is illegible in the copy at hand.",
        _ABSENT,
        _entries({"select + classify, s": _CLASSIFY_S, "train, s": _TRAIN_S}, _METHODS[:2]),
        ("select + classify, s", "train, s"),
    ),
    ComparisonTable(
        "etana-4b",
        "Table 4: seconds of the selectors, selecting and training together, and classifying",
        f"{_NOTE} The paper's times are from another machine: compare ratios.",
        _ABSENT,
        _entries(
            {
                "classify, s": {**_CLASSIFY_S, **_rough_sets.ETANA["classify, s"]},
                "select + train, s": {**_TRAIN_S, **_rough_sets.ETANA["select + train, s"]},
            },
            _STREAMS,
        ),
        ("classify, s", "select + train, s"),
    ),
    RegionsTable(
        "etana-fig3", "Fig. 3: where ETANA goes on at stages 4 and 5 on MLL", stages=(4, 5), picture=RegionPicture()
    ),
    bins_table(
        "etana-fig4", "Fig. 4: ETANA by the number of bins", "ETANA", ("Madelon", "MLL"), _BINS, "Lung Cancer, Dexter"
    ),
    ComparisonTable(
        "etana-costs",
        "Section 5.3: ETANA by the price of a feature",
        "The paper gives the prices, and no figures.",
        ("Lung Cancer", "Dexter"),
        tuple(
            Entry(data, f"ETANA, price {price:g}", "etana(published=True)", "etana", price=price)
            for data in ("Madelon", "MLL")
            for price in _PRICES
        ),
        picture=LinePicture(
            "price of a feature",
            {f"ETANA, price {price:g}": ("ETANA", price) for price in _PRICES},
            ("accuracy", "features"),
            log=True,
        ),
    ),
    ComparisonTable(
        "etana-fig5",
        "Fig. 5: training time and accuracy of F-ETANA and ETANA by the number of classes",
        "The figures are those of the paper's Tables 2 and 4.",
        ("Dexter", "Car"),
        tuple(e for e in _entries({"train, s": _TRAIN_S, "accuracy": _ACCURACY}, _METHODS[:2]) if e.data != "Madelon"),
        ("train, s", "accuracy"),
        picture=LinePicture("classes", {"MLL": ("", 3), "Lung2": ("", 5)}, ("train, s", "accuracy")),
    ),
    ComparisonTable(
        "etana-steps",
        "F-ETANA as published by simulated paths and steps, price 0.01 (not in the paper)",
        "Five seeds each. The paper runs at most 100,000 steps of one path, and names neither step sizes nor a start; "
        "what is called published here runs 300 steps of 1000 paths, from the regions of one-step look-ahead.",
        (),
        tuple(
            Entry("MLL", f"F-ETANA, {paths} paths, {steps} steps", FETANASteps(paths, steps), seeds=(0, 1, 2, 3, 4))
            for paths, steps in _STEPS
        ),
        spread=True,
    ),
    ComparisonTable(
        "etana-code",
        "The authors' published code at our folds, price 0.01 (not in the paper)",
        "Its ETANA has 3 bins, 10 levels and a uniform prior, and orders by the spread of P(outcome | class).",
        entries=tuple(recipe(data, method, {}, code) for (data, method), code in CODE.items()),
    ),
)
