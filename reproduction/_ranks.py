"""Average ranks over data sets and Friedman's tests, as the IFC2F and SAOLA papers have them."""

from __future__ import annotations

from reproduction import _ifc2f
from reproduction import _printed as printed
from reproduction.ranks import RankBlock, RanksTable
from reproduction.table import Table, figures

_TIME = {key: value + printed.CLASSIFYING.get(key, 0.0) for key, value in printed.SELECTING.items()}


def _named(text: str, methods: tuple[str, ...] = printed.METHODS) -> dict[str, float]:
    return dict(zip(methods, map(float, text.split())))


def _ours(*names: str) -> tuple[Table, ...]:
    return tuple(table for table in _ifc2f.TABLES if table.name in names)


_IFC2F = RanksTable(
    "ifc2f-ranks",
    "Section VI-F and last rows of Tables VI to VIII: average ranks, Friedman's test",
    'For the paper\'s sets, the column "published" is computed by seqclass.stats from the figures that the paper '
    "prints. It agrees with the paper's ranks, and with its p-values, which are Iman and Davenport's without a "
    "correction for ties. Methods that did not end are ranked last, in the paper and here. For the sets available "
    "here, the first column is computed from the paper's figures.",
    blocks=(
        RankBlock(
            "accuracy",
            printed.ACCURACY,
            _named("3.41 2.32 4.36 4.82 6.27 4.55 6.18 6.95 6.14"),
            1.69e-4,
            _ours("ifc2f-6"),
        ),
        RankBlock(
            "features",
            printed.FEATURES,
            _named("2.91 3.36 7.09 4.68 6.86 6.91 4.41 2.86 5.91"),
            8.07e-7,
            _ours("ifc2f-7"),
            ("features",),
            higher_is_better=False,
        ),
        RankBlock(
            "seconds to select and classify",
            _TIME,
            _named("1.23 2.82 3.23 7.36 8.73 4.82 5.27 7.27 4.27"),
            4.55e-24,
            _ours("ifc2f-8a", "ifc2f-8b"),
            ("select + classify, s", "select + train, s", "classify, s"),
            higher_is_better=False,
        ),
    ),
)
_SAOLA = RanksTable(
    "saola-ranks",
    "Sections IV-B and IV-C: average ranks of accuracy, Friedman's test",
    'The column "published" is computed by seqclass.stats from the figures that the paper prints, with the highest '
    "rank for the highest accuracy, as in the paper. The paper's text and last rows swap the ranks of Tables IX and X. "
    "It prints no p-values, and calls only the differences of Table VII significant, which agrees with ours. Its "
    "critical difference there, 0.8275, would be 0.8859 by Nemenyi's test of three methods on 14 sets.",
    blocks=tuple(
        RankBlock("", figures(text, methods), _named(ranks, methods), higher_is_better=False, where=title)
        for title, (methods, ranks, text) in printed.SAOLA.items()
    ),
)

TABLES: tuple[Table, ...] = (_IFC2F, _SAOLA)
