"""Every figure that a table quotes, against a record taken from the sources; and the settings that are theirs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seqclass.selection import SAOLA, AlphaInvesting, FastOSFS

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

from reproduction import get_tables
from reproduction._sets import SOURCES

RECORD = Path(__file__).with_name("quoted.txt")
TABLES = {table.name: table for table in get_tables()}
Figures = dict[tuple[str, str], float]


def blocks(text: str) -> dict[str, Figures]:
    """Tables of the record by their titles; figures by data set and method."""
    found: dict[str, Figures] = {}
    for part in text.split("\n\n")[1:]:
        head, *lines = part.strip().splitlines()
        title, _, columns = head.removeprefix("[").partition("] ")
        methods, figures = columns.split(" | "), found.setdefault(title, {})
        for line in lines:
            data, _, numbers = line.rpartition(" | ")
            words = numbers.split()
            assert len(words) == len(methods), line
            figures |= {(data, m): math.nan if w == "-" else float(w) for m, w in zip(methods, words)}
    return found


QUOTED = blocks(RECORD.read_text(encoding="utf-8"))


def same(data: str, method: str) -> tuple[str, str]:
    return data, method


def last(data: str, method: str) -> tuple[str, str]:
    """``"IFC2F, price 0.01"`` and ``"ETANA, at most 5"`` by their ends."""
    return data, method.rpartition(" ")[2]


def first(data: str, method: str) -> tuple[str, str]:
    """``"SAOLA, KNN"`` on ``"Dorothea, all rows"`` by their beginnings."""
    return data.partition(",")[0], method.partition(",")[0]


def ifc2f(data: str, method: str) -> tuple[str, str]:
    return data, "IFC2F"


Key = Callable[[str, str], tuple[str, str]]
#: Table, quantity and whose it is, the blocks whose figures are added up, and how a row is named there.
WHERE: dict[tuple[str, str, str], tuple[tuple[str, ...], Key]] = {
    ("etana-4a", "select + classify, s", "paper"): (("ETANA, Table 4: F+C",), same),
    ("etana-4a", "train, s", "paper"): (("ETANA, Table 4: T",), same),
    ("etana-4b", "classify, s", "paper"): (("ETANA, Table 4: C of the selectors",), same),
    ("etana-4b", "select + train, s", "paper"): (
        ("ETANA, Table 4: F of the selectors", "ETANA, Table 4: T of the selectors"),
        same,
    ),
    ("etana-fig5", "train, s", "paper"): (("ETANA, Table 4: T",), same),
    ("etana-fig5", "accuracy", "paper"): (("ETANA, Table 2: accuracy",), same),
    ("ifc2f-3", "accuracy", "paper"): (("IFC2F, Table III: accuracy",), last),
    ("ifc2f-3", "features", "paper"): (("IFC2F, Table III: features",), last),
    ("ifc2f-4", "accuracy", "paper"): (("IFC2F, Table IV: accuracy",), last),
    ("ifc2f-4", "features", "paper"): (("IFC2F, Table IV: features",), last),
    ("ifc2f-8a", "select + classify, s", "paper"): (("IFC2F, Table VIII: F+C",), same),
    ("ifc2f-8a", "train, s", "paper"): (("IFC2F, Table VIII: T",), same),
    ("ifc2f-8a", "preprocess, s", "paper"): (("IFC2F, Table VIII: P",), same),
    ("ifc2f-8b", "classify, s", "paper"): (("IFC2F, Table VIII: C of the selectors",), same),
    ("ifc2f-8b", "select + train, s", "paper"): (
        ("IFC2F, Table VIII: F of the selectors", "IFC2F, Table VIII: T of the selectors"),
        same,
    ),
    ("fires-3b", "accuracy", "paper"): (("FIRES, Table 3: accuracy with all features",), same),
    ("fires-3b", "ms a batch", "paper"): (("FIRES, Table 3: ms with all features",), same),
    ("saola-6", "accuracy", "paper"): (("SAOLA, Table VI: accuracy, KNN",), first),
    ("saola-7", "accuracy", "paper"): (("SAOLA, Table VII: accuracy, J48",), first),
    ("saola-9", "accuracy", "paper"): (("SAOLA, Table IX: accuracy, J48",), first),
    ("saola-10", "accuracy", "paper"): (("SAOLA, Table X: accuracy, KNN",), first),
    ("saola-2", "accuracy", "paper"): (("SAOLA, Table II: accuracy, J48",), first),
    ("saola-3", "accuracy", "paper"): (("SAOLA, Table III: accuracy, KNN",), first),
    ("saola-13", "select, s", "paper"): (("SAOLA, Table XIII: seconds",), first),
    ("saola-13", "features", "paper"): (("SAOLA, Table XIII: features",), first),
    ("gdfs-spambase", "accuracy", "paper"): (("GDFS, notebook: accuracy",), last),
}
#: Tables that share their entries, and so quote the same figures, each of which one of them shows.
SHARED = {
    ("etana-2", "etana-3"): {"accuracy": "ETANA, Table 2: accuracy", "features": "ETANA, Table 3: features"},
    ("ifc2f-6", "ifc2f-7"): {"accuracy": "IFC2F, Table VI: accuracy", "features": "IFC2F, Table VII: features"},
    ("fires-3", "fires-4"): {
        **{"accuracy": "FIRES, Table 3: accuracy", "ms a batch": "FIRES, Table 3: ms"},
        **{"stability": "FIRES, Table 4: stability"},
    },
}
for _name in ("saola-4", "saola-5"):
    WHERE[_name, "features", "paper"] = ("SAOLA, Table IV: features",), first
    WHERE[_name, "select, s", "paper"] = ("SAOLA, Table V: seconds",), first
for _tables, _blocks in SHARED.items():
    WHERE |= {(name, quantity, "paper"): ((title,), same) for name in _tables for quantity, title in _blocks.items()}
for _name, _quantity in {
    (n, q) for n in ("fires-3", "fires-4", "fires-mnist") for q in ("accuracy", "ms a batch", "stability")
}:
    WHERE[_name, _quantity, "paper"] = WHERE["fires-3", _quantity, "paper"][0], first
for _table in ("etana-2", "etana-3", "etana-4a", "etana-fig5", "etana-code", "ifc2f-6", "ifc2f-7", "ifc2f-8a"):
    for _quantity, _block in {"accuracy": "accuracy", "features": "features", "train, s": "T"}.items():
        WHERE[_table, _quantity, "ETANA code"] = ((f"ETANA's code: {_block}",), same)
for _table in ("ifc2f-3", "ifc2f-4", "ifc2f-6", "ifc2f-7", "ifc2f-8a", "ifc2f-code"):
    for _quantity, _block in {
        **{"accuracy": "accuracy", "features": "features"},
        **{"train, s": "T", "preprocess, s": "P"},
    }.items():
        WHERE[_table, _quantity, "IFC2F code"] = ((f"IFC2F's code: {_block}",), ifc2f)


def quoted() -> Iterator[tuple[str, str, str, str, str, float]]:
    """Each figure: table, data set, method, quantity, whose, and what the table says."""
    for name, table in TABLES.items():
        for entry in getattr(table, "entries", ()):
            for quantity, value in entry.paper.items():
                yield name, entry.data, entry.method, quantity, "paper", value
            for quantity, value in getattr(entry, "code", {}).items():
                recipe = "IFC2F" if entry.method.startswith("IFC2F") else "ETANA"
                yield name, entry.data, entry.method, quantity, f"{recipe} code", value
        for (data, method), values in getattr(table, "best", {}).items():  # of the size that is best
            for quantity, value in values.items():
                yield name, data, method, quantity, "paper", value


def sources(name: str, method: str, quantity: str, whose: str) -> tuple[tuple[str, ...], Key]:
    if name in ("saola-11", "saola-12"):  # one quantity, a classifier in the name of the method
        number = "XI" if name == "saola-11" else "XII"
        return (f"SAOLA, Table {number}: accuracy, {'KNN' if method.endswith('KNN') else 'J48'}",), first
    return WHERE[name, quantity, whose]


@pytest.mark.parametrize("name", [name for name in TABLES if any(figure[0] == name for figure in quoted())])
def test_every_figure_that_a_table_quotes_is_in_the_record(name: str) -> None:
    wrong = []
    for figure in filter(lambda figure: figure[0] == name, quoted()):
        _, data, method, quantity, whose, value = figure
        titles, key = sources(name, method, quantity, whose)
        recorded = math.fsum(QUOTED[title][key(data, method)] for title in titles)
        if not (math.isclose(value, recorded, rel_tol=1e-9) or (math.isnan(value) and math.isnan(recorded))):
            wrong.append((*figure, recorded))
    assert wrong == []


def test_every_figure_of_the_record_is_quoted() -> None:
    used = {
        (title, key(data, method))
        for name, data, method, quantity, whose, _ in quoted()
        for titles, key in [sources(name, method, quantity, whose)]
        for title in titles
    }
    unused = {(title, *place) for title, figures in QUOTED.items() for place in figures if (title, place) not in used}
    known = {(t, d, m) for t, d, m in unused if math.isnan(QUOTED[t][d, m])}
    # they take minutes and hours a fold there, and are not run
    known |= {place for place in unused if place[1] == "Dorothea" and place[2] in ("OSFS", "OFS-A3M")}
    assert unused == known
    assert sum(len(figures) for figures in QUOTED.values()) > 430


def settings(name: str, data: str, method: str) -> Any:
    (entry,) = [e for e in TABLES[name].entries if (e.data, e.method) == (data, method)]  # type: ignore[attr-defined]
    return entry


@pytest.mark.parametrize("bound, method", [("min", "SAOLA"), ("max", "SAOLA-max")])
def test_dorothea_is_selected_from_as_in_the_paper(method: str, bound: str) -> None:
    scored = settings("saola-12", "Dorothea", f"{method}, KNN").published[0]
    for selector in (scored, settings("saola-13", "Dorothea, all rows", method).published):
        assert isinstance(selector, SAOLA)
        assert (selector.measure, selector.delta_1, selector.bound) == ("su", 0.0, bound)
    other = settings("saola-13", "Dorothea, all rows", "SAOLA-max, mutual information").published
    assert (other.measure, other.delta_1, other.bound) == ("mi", 0.0, "max")


def test_settings_of_the_selectors() -> None:
    fast = settings("saola-4", "Dorothea, all rows", "Fast-OSFS").published
    assert isinstance(fast, FastOSFS)
    assert (fast.test, fast.alpha, fast.max_condition) == ("g2", 0.01, 3)
    investing = settings("saola-4", "Dorothea, all rows", "Alpha-investing").published
    assert isinstance(investing, AlphaInvesting)
    assert (investing.initial_wealth, investing.wealth_gain, investing.p_value) == (0.5, 0.5, "likelihood")
    for name, method in (("etana-2", "SAOLA"), ("ifc2f-6", "SAOLA"), ("saola-2", "SAOLA, tree")):
        chosen = settings(name, "Madelon", method).published[0]
        assert (chosen.measure, chosen.alpha, chosen.class_coding) == ("fisher_z", 0.01, "codes")
    for name, method in (("etana-2", "Fast-OSFS"), ("saola-2", "Fast-OSFS, tree"), ("etana-2", "OSFS")):
        chosen = settings(name, "Madelon", method).published[0]
        assert (chosen.test, chosen.alpha, chosen.class_coding) == ("fisher_z", 0.01, "codes")
    assert settings("etana-2", "Madelon", "SAOLA").published[-1].n_neighbors == 3
    assert settings("saola-3", "Madelon", "SAOLA, KNN").published[-1].n_neighbors == 1
    levels = [e.published[0].alpha for e in TABLES["saola-14"].entries]  # type: ignore[attr-defined]
    assert levels == [0.01, 0.01, 0.05, 0.05]
    assert [len(e.seeds) for e in TABLES["saola-fig6"].entries] == [10] * 4  # type: ignore[attr-defined]
    with_all = [SOURCES[data].protocol for data in ("Dorothea, all rows", "Madelon", "MLL")]
    assert [type(protocol).__name__ for protocol in with_all] == ["AllRows", "SourceSplit", "SourceSplit"]


def test_settings_of_the_recipes() -> None:
    for name in ("etana-2", "ifc2f-6"):
        for method, call in {"ETANA": "etana", "F-ETANA": "f_etana"}.items():
            entry = settings(name, "MLL", method)
            assert (entry.published, entry.ours, entry.price) == (f"{call}(published=True)", call, 0.01)
    for price in ("0.1", "0.01", "0.001", "0.0001"):
        assert settings("ifc2f-3", "MLL", f"IFC2F, price {price}").price == float(price)
    assert settings("ifc2f-fig3", "MLL", "IFC2F, 20 bins").published == "ifc2f(published=True, n_bins=20)"
    assert [e.price for e in TABLES["etana-costs"].entries][:8] == [0.1, 0.08, 0.06, 0.04, 0.02, 0.01, 0.001, 0.0]  # type: ignore[attr-defined]


def test_settings_of_the_streams_and_searches() -> None:
    for name in ("fires-3", "fires-4"):
        table: Any = TABLES[name]
        assert (table.batches, table.shares) == ((25, 50, 75, 100), (0.1, 0.15, 0.2))
        for entry in table.entries:
            if entry.method.startswith("FIRES"):
                chosen = entry.selector
                assert (chosen.penalty_s, chosen.penalty_r) == (0.01, 0.01)
                assert (chosen.learning_rate_mu, chosen.learning_rate_sigma) == (0.01, 0.01)
    penalties = [e.selector.penalty_s for e in TABLES["fires-fig6"].entries]  # type: ignore[attr-defined]
    assert penalties == [10.0**k for k in range(-5, 4)]
    forms: Any = {k: v for name in ("semi_rfs-fig3", "semi_rfs-fig6") for k, v in TABLES[name].forms.items()}  # type: ignore[attr-defined]
    assert forms["RFS"] == {"warm_start": False, "removal_group_size": 1, "adaptive": False, "group_size": 1}
    assert forms["static 2, 1"] == {**forms["RFS"], "group_size": 2}
    for alpha in (0.5, 1.0):
        assert forms[f"adaptive {alpha:g}"] == {
            **{"warm_start": False, "removal_group_size": 1},
            **{"alpha": alpha, "beta": 5.0},
        }
    for beta in (1.0, 2.0, 4.0, 8.0):
        for alpha in (0.5, 1.0, 2.0):
            one = forms[f"alpha {alpha:g}, beta {beta:g}"]
            assert (one["alpha"], one["beta"], one["warm_start"], one["removal_group_size"]) == (alpha, beta, False, 1)
