"""What planning with what is known at the start gives, against planning from nothing and then being told the same.

    python benchmarks/known.py [--data DIR] [--sets SET ...] [--json FILE] [--quick]

Thyroid: age, sex and history are known and five blood tests are priced as the source has them; Pima: age and
pregnancies; breast cancer (scikit-learn's): ten of the means. Five stratified folds, each method fitted to four and run
on the fifth, naive Bayes in a fixed and in any order: the mean cost of both (prices and 1 for a wrong decision), and
their paired difference on the rows held out with its 95% interval. From nothing, what will be known has a price of 0,
and stays a question; and with its usual price, which is what a plan is that knows nothing of it.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from _common import parser, write_json
from _real import absent, add_data_option, data_folder
from sklearn.model_selection import StratifiedKFold

from seqclass import SequentialClassifier, datasets
from seqclass.stats import paired_t_test

ORDERS = ("conditional", "adaptive")


class Set(NamedTuple):
    """A set, what is known of its rows at the start, and prices of all columns."""

    X: Any
    y: Any
    known: list[int]
    prices: Any


def read(name: str, folder: Any) -> Set | None:
    if name not in datasets.list_datasets(folder):
        return None
    data = datasets.load(name, folder)
    X = np.asarray(data.X, dtype=float)
    if name == "thyroid_ann":
        prices = 0.001 * np.where(np.isnan(data.feature_costs), 25.92, data.feature_costs)
        return Set(X, data.y, list(range(16)), prices)
    known = {"pima": [0, 7], "breast_cancer": list(range(10))}[name]
    return Set(X, data.y, known, np.full(X.shape[1], 0.01))


def run(data: Set, order: str) -> tuple[dict[str, Any], dict[str, float]]:
    """Costs of all rows by each way, and seconds of CPU."""
    free = data.prices.copy()
    free[data.known] = 0.0
    ways = {
        "with the start": ({"known": data.known, "feature_costs": free}, {}),
        "from nothing, free": ({"feature_costs": free}, {"known": data.known}),
        "from nothing, priced": ({"feature_costs": data.prices}, {"known": data.known}),
    }
    costs = {way: np.zeros(len(data.y)) for way in ways}
    seconds = dict.fromkeys(ways, 0.0)
    for fit, held in StratifiedKFold(5, shuffle=True, random_state=0).split(data.X, data.y):
        for way, (settings, told) in ways.items():
            began = time.process_time()
            clf = SequentialClassifier(order=order, **settings).fit(data.X[fit], data.y[fit])
            seconds[way] += time.process_time() - began
            record = clf.acquire(data.X[held], **told)
            costs[way][held] = record.paid + (record.decision != data.y[held])
    return costs, seconds


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=["thyroid_ann", "pima", "breast_cancer"])
    arguments = made.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in ["breast_cancer"] if arguments.quick else arguments.sets:
        data = read(name, data_folder(arguments))
        if data is None:
            absent(name)
            continue
        if arguments.quick:
            data = Set(data.X[::4, :14], data.y[::4], data.known, data.prices[:14])
        for order in ORDERS[:1] if arguments.quick else ORDERS:
            costs, seconds = run(data, order)
            best = "with the start"
            print(f"{name}, {order}: {best} costs {costs[best].mean():.4f}, {seconds[best]:.1f} s of CPU", flush=True)
            row = {"name": f"{name}, {order}", "ours_s": seconds[best], "peer": None, "peer_s": None, "ratio": None}
            row |= {"peak_mb": None, "cost": float(costs[best].mean())}
            for way in list(costs)[1:]:
                test = paired_t_test(costs[way], costs[best])
                low, high = test.interval
                print(
                    f"  {way}: {costs[way].mean():.4f}, {test.difference:+.4f} ({low:+.4f} to {high:+.4f}), "
                    f"{seconds[way]:.1f} s",
                    flush=True,
                )
                row[way] = {"cost": float(costs[way].mean()), "difference": test.difference, "interval": [low, high]}
            rows.append(row)
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
