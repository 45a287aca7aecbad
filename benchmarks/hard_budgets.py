"""Class mixtures in any order at hard budgets of features, beside greedy deep selection (GDFS) on its own rows.

    python benchmarks/hard_budgets.py [--data DIR] [--sets spambase mnist] [--seeds N] [--json FILE] [--quick]

All features cost the same, and of each test row so many are seen. Of Spambase the area under the ROC curve and the
accuracy of what is believed then, of MNIST's pixels, black or white, the accuracy. GDFS (Covert et al., ICML 2023)
trains two networks on a GPU; its figures and its rows are in golden/gdfs.json beside the data. Ours is one fit for all
budgets, to its training and validation rows.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from _common import left_out, parser, write_json
from _real import add_data_option, data_folder
from sklearn.metrics import roc_auc_score

import seqclass
from seqclass import SequentialClassifier, datasets
from seqclass.bn import ClassMixture
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation


def mixture(n_bins: int, seed: int, **settings: Any) -> SequentialClassifier:
    """Twenty components a class in five bags; when to stop is not asked, so few cases are simulated."""
    solver = Adaptive([ClassInformation()], max_rounds=0, n_paths=50, n_cases=50, certificate_paths=0)
    model = ClassMixture(20, n_bags=5, random_state=seed, **settings)
    bins = Discretizer(n_bins, strategy="quantile")
    return SequentialClassifier(model, solver, discretizer=bins, order="adaptive", feature_costs=1e-6)


METHODS = {
    "etana": lambda seed: seqclass.etana(1e-6),
    "mixture, 8 bins": lambda seed: mixture(8, seed),
    "mixture of densities, 16 bins": lambda seed: mixture(16, seed, density="auto"),
}


#: Components a class of MNIST.
MNIST_SIZE = 200


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=["spambase", "mnist"], choices=["spambase", "mnist"])
    made.add_argument("--seeds", type=int, default=5)
    arguments = made.parse_args()
    folder = data_folder(arguments)
    golden = None if folder is None else folder.parent / "golden" / "gdfs.json"
    rows: list[dict[str, Any]] = []
    for name in ["spambase"] if arguments.quick else arguments.sets:
        if golden is None or not golden.exists() or name not in datasets.list_datasets(folder):
            left_out(name, f"no {name}.npz, or no golden/gdfs.json beside the data")
            continue
        quoted, data = json.loads(golden.read_text(encoding="utf-8"))[name], datasets.load(name, folder)
        rows += _spambase(quoted, data, arguments) if name == "spambase" else _mnist(quoted, data)
    if arguments.json:
        write_json(rows, arguments.json)


def _spambase(quoted: dict[str, Any], data: Any, arguments: Any) -> list[dict[str, Any]]:
    budgets, peer = quoted["budgets"], np.array(quoted["auroc"])
    test = np.zeros(len(data.y), dtype=bool)
    test[quoted["test_rows"]] = True
    label = data.y[test] == np.unique(data.y)[1]
    print(f"{'area under the ROC curve, %':38}" + "".join(f"{k:>7}" for k in budgets) + "   mean 1-10  CPU s")
    _line("GDFS, as published", peer, budgets, None)
    rows = []
    for name in ["etana"] if arguments.quick else list(METHODS):
        for seed in range(1 if arguments.quick or name == "etana" else arguments.seeds):
            began = time.process_time()
            clf = METHODS[name](seed).fit(data.X[~test], data.y[~test])
            records = [clf.acquire(data.X[test], budget=k) for k in budgets]
            seconds = time.process_time() - began
            area = 100 * np.array([roc_auc_score(label, record.posterior[:, 1]) for record in records])
            accuracy = 100 * np.array([np.mean((record.posterior[:, 1] > 0.5) == label) for record in records])
            _line(f"{name}, seed {seed}", area, budgets, seconds)
            above = int((area > peer).sum())
            print(f"{'':38}above GDFS at {above} of {len(budgets)}; largest fall {_fall(area):.2f}")
            print(f"{'':38}accuracy {accuracy.round(1).tolist()}", flush=True)
            row = {"name": f"{name}, seed {seed}", "ours_s": seconds, "peer": None, "peer_s": None}
            row |= {"ratio": None, "peak_mb": None, "budgets": budgets, "auroc": area.tolist()}
            rows.append(row | {"accuracy": accuracy.tolist(), "peer_auroc": peer.tolist(), "above": above})
    return rows


def _mnist(quoted: dict[str, Any], data: Any) -> list[dict[str, Any]]:
    budgets = [k for k in quoted["pixels"] if k <= 30]
    peer = np.array(quoted["accuracy"][: len(budgets)])
    pixels, train = np.asarray(data.X) >= 64, np.arange(len(data.y)) < 60_000
    print(f"\n{'accuracy, %':38}" + "".join(f"{k:>7}" for k in budgets) + "   mean 5-10  CPU s")
    _line("GDFS, as published", peer, budgets, None)
    solver = Adaptive(
        [ClassInformation()], max_rounds=0, n_paths=50, n_cases=50, max_stages=30, foresee=False, certificate_paths=0
    )
    began = time.process_time()
    model = ClassMixture(MNIST_SIZE, max_iter=30)
    clf = SequentialClassifier(model, solver, discretizer=Discretizer(2), order="adaptive", feature_costs=1e-6)
    clf.fit(pixels[train].astype(np.int8), data.y[train])
    fitted = time.process_time() - began
    found = [clf.acquire(pixels[~train].astype(np.int8), budget=k) for k in budgets]
    seconds = time.process_time() - began
    accuracy = 100 * np.array([np.mean(record.decision == data.y[~train]) for record in found])
    _line(f"{MNIST_SIZE} components a class", accuracy, budgets, seconds)
    print(f"{'':38}of which {fitted:.0f} s the fit", flush=True)
    row = {"name": f"MNIST, {MNIST_SIZE} components a class", "ours_s": fitted, "peer": None, "peer_s": None}
    row |= {"ratio": None, "peak_mb": None, "budgets": budgets, "accuracy": accuracy.tolist()}
    return [row | {"peer_accuracy": peer.tolist()}]


def _line(name: str, area: np.ndarray, budgets: list[int], seconds: float | None) -> None:
    took = "" if seconds is None else f"{seconds:7.1f}"
    mean = area[np.array(budgets) <= 10].mean()
    print(f"{name:38}" + "".join(f"{value:7.2f}" for value in area) + f"  {mean:10.2f}{took}", flush=True)


def _fall(area: np.ndarray) -> float:
    """How far the area falls at most as the budget grows."""
    return float((np.maximum.accumulate(area) - area).max())


if __name__ == "__main__":
    main()
