"""Numbers in fine bins with densities, and contexts: held-out cost beside coarse bins, on real data.

    python benchmarks/real_values.py [--data DIR] [--sets SET ...] [--ways WAY ...] [--json FILE] [--quick]

Price 0.01, five stratified folds (those of real_data.py), any question next by class information. ``bins`` is the
class mixture that `seqclass.adaptive` tries on five bins of equal counts; the others have sixteen. Seconds of CPU.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

from _common import Row, parser, write_json
from _real import add_data_option, each_set

from seqclass import SequentialClassifier
from seqclass.bn import ClassMixture, ContextBayes
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation

SETS = ["breast_cancer", "pima", "thyroid_ann", "digits", "spambase"]
#: Model and bins.
WAYS: dict[str, tuple[Any, int]] = {
    "bins": (ClassMixture(), 5),
    "mixture": (ClassMixture(density="auto"), 16),
    "densities": (ContextBayes(None), 16),
    "contexts": (ContextBayes(), 16),
}


@dataclass(frozen=True)
class HeldOutCost(Row):
    """A row with what the way costs on rows held out, a 95% interval, and what its own model expects."""

    cost: float
    lower: float
    upper: float
    expected: float


def held_out(name: str, way: str, X: Any, y: Any) -> HeldOutCost:
    model, n_bins = WAYS[way]
    solver = Adaptive([ClassInformation()], max_rounds=0, n_cases=1000, random_state=0)
    bins = Discretizer(n_bins, strategy="quantile")
    began = time.process_time()
    clf = SequentialClassifier(model, solver, discretizer=bins, order="adaptive", feature_costs=0.01)
    held = clf.fit(X, y, held_out=5).held_out_
    seconds, (lower, upper) = time.process_time() - began, held.cost_interval
    title = f"{name} by {way}"
    print(
        f"{title:28} {held.cost:8.4f} {lower:8.4f} {upper:8.4f} {held.expected_cost:8.4f} {seconds:8.0f}   "
        f"{getattr(clf.model_, 'context_', '')}",
        flush=True,
    )
    return HeldOutCost(title, seconds, None, None, None, None, held.cost, lower, upper, held.expected_cost)


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=SETS)
    made.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    arguments = made.parse_args()
    warnings.simplefilter("ignore")  # where nothing is worth buying, the table says so
    print(f"{'':28} {'cost':>8} {'from':>8} {'to':>8} {'expected':>8} {'CPU s':>8}   context")
    rows = []
    for name, data in each_set(arguments, "5-fold"):
        X, y = (data[0][::5, :3], data[1][::5]) if arguments.quick else data[:2]
        rows += [held_out(name, way, X, y) for way in arguments.ways]
    if arguments.json:
        write_json([asdict(row) for row in rows], arguments.json)


if __name__ == "__main__":
    main()
