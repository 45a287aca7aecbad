"""The recipes on real data at price 0.01, as called and as published, beside the authors' own codes.

    python benchmarks/real_data.py [--data DIR] [--sets SET ...] [--write docs/results.md]

Every row is what the call in its second column gives as it stands: accuracy, features and realised cost of the test
rows of all folds, the largest certified gap, and seconds of the slowest fold. The table of the documentation follows,
in Markdown, and then the largest gaps and F-ETANA's cost beside ETANA's; ``--write`` puts the table into pages, between
the lines ``<!-- real_data: begin -->`` and ``<!-- real_data: end -->``. Data sets that are not embedded in scikit-learn
come from ``--data`` (or the variable SEQCLASS_DATA, or ``../shared/data`` beside the checkout); without them only
breast_cancer and digits are run. The authors' figures are those of their published codes at the same folds and price.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from _common import parser, write_json
from _real import Outcome, add_data_option, authors_code, each_set, json_row, run

from seqclass import SequentialClassifier, etana, f_etana, ifc2f
from seqclass._utils.files import replace_file
from seqclass.bn import NaiveBayes

PRICE = 0.01
BEGIN, END = "<!-- real_data: begin -->", "<!-- real_data: end -->"
#: How the table writes a set.
TITLES = {
    "mll 5-fold": "MLL, 72 x 5848, 3 classes, 5-fold 3 times",
    "mll split": "MLL, its own 57/15 split",
    "colon_disc": "colon (discretised), 62 x 2000, 5-fold",
    "madelon": "madelon, 2000/600 x 500",
    "spambase": "spambase, 4601 x 57, 5-fold",
    "breast_cancer": "breast cancer, 569 x 30, 5-fold",
    "digits": "digits, 1797 x 64, 10 classes, 5-fold",
    "lung2_desouto1543": "lung (2001 data, 1543 genes), 203 rows, 5 classes, 5-fold",
}
Maker = Callable[[], SequentialClassifier]
#: By the call that each stands for.
OURS: dict[str, Maker] = {
    "etana(0.01)": lambda: etana(PRICE),
    "f_etana(0.01)": lambda: f_etana(PRICE),
    "ifc2f(0.01)": lambda: ifc2f(PRICE),
}
PUBLISHED: dict[str, Maker] = {
    "etana(0.01, published=True)": lambda: etana(PRICE, published=True),
    # the authors' code orders by the spread of P(outcome | class) and starts from a uniform prior
    "the same as in their code": lambda: etana(
        PRICE, published=True, n_bins=3, order="variance", observation_model=NaiveBayes(prior="uniform")
    ),
    "ifc2f(0.01, published=True)": lambda: ifc2f(PRICE, published=True),
}
Found = Mapping[str, Mapping[str, Outcome]]


def methods(name: str, quick: bool) -> Iterator[tuple[str, Maker]]:
    yield from list(OURS.items())[:1] if quick else OURS.items()
    for call, make in () if quick else PUBLISHED.items():
        # the published nearest-point grid over ten classes takes minutes, over five what it gives here is not quoted
        if call.startswith("ifc2f") or name not in ("digits", "lung2_desouto1543"):
            yield call, make


def table(found: Found) -> str:
    """Markdown: accuracy / features / realised cost of the authors' codes and of ours, and the largest gap of ours."""
    lines = ["| data | authors' ETANA | `etana` | authors' IFC2F | `ifc2f` |", "|---|---|---|---|---|"]
    for name, outcomes in found.items():
        theirs = {recipe: _authors(name, recipe) for recipe in ("ETANA", "IFC2F")}
        ours = [_ours(outcomes[call]) for call in ("etana(0.01)", "ifc2f(0.01)")]
        lines.append(f"| {TITLES[name]} | {theirs['ETANA']} | {ours[0]} | {theirs['IFC2F']} | {ours[1]} |")
    return "\n".join(lines)


def _authors(name: str, recipe: str) -> str:
    found = authors_code(name, recipe)
    if found is None:
        return "not run" if (name, recipe) != ("digits", "ETANA") else "too large for it"
    return _shown(*found, 1 - found[0] + PRICE * found[1])


def _ours(outcome: Outcome) -> str:
    return f"{_shown(*outcome[:3])}, {outcome.gap:.2%}"


def _shown(accuracy: float, n_features: float, cost: float) -> str:
    return f"{accuracy:.3f} / {n_features:.2f} / {cost:.3f}"


def summary(found: Found) -> Iterator[str]:
    """What prose says of the table: the largest gaps, and F-ETANA's cost by ETANA's."""
    for call in OURS:
        gaps = sorted(((outcomes[call].gap, name) for name, outcomes in found.items()), reverse=True)
        yield f"{call}: largest certified gaps " + ", ".join(f"{gap:.2%} ({name})" for gap, name in gaps)
    ratios = {name: outcomes["f_etana(0.01)"].cost / outcomes["etana(0.01)"].cost for name, outcomes in found.items()}
    yield "f_etana(0.01): realised cost by that of etana(0.01) " + ", ".join(
        f"{r:.3f} ({n})" for n, r in ratios.items()
    )


def with_table(page: str, text: str) -> str:
    """A page with the table between its lines."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"a page to write to has no lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", choices=list(TITLES), default=list(TITLES))
    made.add_argument("--only-ours", action="store_true", help="leave the published settings out")
    made.add_argument("--write", nargs="+", type=Path, default=[], metavar="PAGE", help="put the table into pages")
    arguments = made.parse_args()
    rows: list[dict[str, Any]] = []
    found: dict[str, dict[str, Outcome]] = {}
    print(f"{'data':18} {'call':28} {'accuracy':>8} {'features':>8} {'cost':>7} {'gap':>7} {'fit s':>6}")
    for name, data in each_set(arguments):
        for call, make in methods(name, arguments.quick):
            if arguments.only_ours and call not in OURS:
                continue
            outcome = found.setdefault(name, {})[call] = run(make, *data)
            print(
                f"{name:18} {call:28} {outcome.accuracy:8.3f} {outcome.n_features:8.2f} {outcome.cost:7.4f} "
                f"{outcome.gap:7.2%} {outcome.fit_s:6.2f}",
                flush=True,
            )
            rows.append(json_row(f"{name}, {call}", outcome))
    if not arguments.quick:
        print("", table(found), "", *summary(found), sep="\n")
        for page in arguments.write:
            text = with_table(page.read_text(encoding="utf-8"), table(found))
            with replace_file(page) as temporary:
                temporary.write_text(text, encoding="utf-8")
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
