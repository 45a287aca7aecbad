"""Class mixtures in any order at hard budgets of features, beside greedy deep selection (GDFS) on its own rows.

    python benchmarks/hard_budgets.py [--data DIR] [--sets spambase mnist] [--seeds N] [--json FILE]
        [--picture FILE] [--quick]

All features cost the same, and of each test row so many are seen. Of Spambase the area under the ROC curve and the
accuracy of what is believed then; of MNIST, pixels or patches of 4 x 4, the accuracy. GDFS
(Covert et al., ICML 2023) trains two networks on a GPU; its figures and its rows are in golden/gdfs.json beside the
data. Ours is one fit for all budgets, to its training and validation rows. Settings were chosen on training rows alone.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from _common import left_out, parser, write_json
from _real import add_data_option, data_folder
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import roc_auc_score

import seqclass
from seqclass import SequentialClassifier, datasets
from seqclass._utils.files import replace_file
from seqclass.bn import ClassMixture
from seqclass.discretize import Discretizer
from seqclass.pomdp import ClassInformation, FirstK

#: When to stop is given: there is nothing to plan.
SOLVER = FirstK(None, rule=ClassInformation(), certificate_paths=0)


def mixture(n_bins: int, seed: int, **settings: Any) -> SequentialClassifier:
    """Eighty components a class in five bags."""
    model = ClassMixture(80, n_bags=5, random_state=seed, **settings)
    bins = Discretizer(n_bins, strategy="quantile")
    return SequentialClassifier(model, SOLVER, discretizer=bins, order="adaptive")


METHODS = {
    "etana": lambda seed: seqclass.etana(1e-6),
    "mixture, 8 bins": lambda seed: mixture(8, seed),
    "mixture of densities, 16 bins": lambda seed: mixture(16, seed, density="auto"),
}


#: Components a class of MNIST and steps of their fit, by what is seen.
MNIST_SIZE, MNIST_STEPS = {"pixels": 2000, "patches": 300}, {"pixels": 10, "patches": 30}
#: From where on a pixel is grey, and from where on white, of 255.
MNIST_GREY = (1, 128)
#: How strongly the components are drawn together, and codes of a patch.
MNIST_SHRINKAGE, MNIST_CODES = 0.1, 32


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=["spambase", "mnist"], choices=["spambase", "mnist"])
    made.add_argument("--seeds", type=int, default=5)
    made.add_argument("--picture", metavar="FILE", type=Path, help="draw what is reached by budget")
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
    if arguments.picture:
        draw(rows, arguments.picture)


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """What is reached by budget, a set a panel, mean and range of seeds, beside GDFS's published figures."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    panels: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        title = row["name"].partition(",")[0] if "peer_accuracy" in row else "Spambase"
        panels.setdefault(title, {}).setdefault(row["name"].partition(", seed")[0], []).append(row)
    figure = Figure(figsize=(5 * len(panels), 4.2), layout="constrained")
    for (title, methods), axes in zip(panels.items(), np.ravel(figure.subplots(1, len(panels)))):
        for marker, (name, some) in zip("osD^", methods.items()):
            key, budgets = "accuracy" if "peer_accuracy" in some[0] else "auroc", some[0]["budgets"]
            values = np.array([row[key] for row in some])
            label = name.removeprefix(f"{title}, ")
            label = label if len(some) == 1 else f"{label}, {len(some)} seeds"
            axes.plot(budgets, values.mean(axis=0), marker=marker, label=label)
            axes.fill_between(budgets, values.min(axis=0), values.max(axis=0), alpha=0.25)
        axes.plot(budgets, some[0][f"peer_{key}"], "k--", marker="x", label="GDFS, as published")
        measure = {"accuracy": "accuracy, %", "auroc": "area under the ROC curve, %"}[key]
        axes.set(title=title, xlabel="features seen of each row", ylabel=measure)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right", fontsize="small")
    with replace_file(path) as temporary:
        figure.savefig(temporary, dpi=120)


def _spambase(quoted: dict[str, Any], data: Any, arguments: Any) -> list[dict[str, Any]]:
    budgets, peer = quoted["budgets"], np.array(quoted["auroc"])
    test = np.zeros(len(data.y), dtype=bool)
    test[quoted["test_rows"]] = True
    label = data.y[test] == np.unique(data.y)[1]
    print(f"{'area under the ROC curve, %':38}" + "".join(f"{k:>7}" for k in budgets) + "   mean 1-10  CPU s")
    show_line("GDFS, as published", peer, budgets, None)
    rows = []
    for name in ["etana"] if arguments.quick else list(METHODS):
        for seed in range(1 if arguments.quick or name == "etana" else arguments.seeds):
            began = time.process_time()
            clf = METHODS[name](seed).fit(data.X[~test], data.y[~test])
            beliefs = beliefs_at(clf, data.X[test], budgets)
            seconds = time.process_time() - began
            area = 100 * np.array([roc_auc_score(label, belief[:, 1]) for belief in beliefs])
            accuracy = 100 * np.array([np.mean((belief[:, 1] > 0.5) == label) for belief in beliefs])
            show_line(f"{name}, seed {seed}", area, budgets, seconds)
            above = int((area > peer).sum())
            print(f"{'':38}above GDFS at {above} of {len(budgets)}; largest fall {_fall(area):.2f}")
            print(f"{'':38}accuracy {accuracy.round(1).tolist()}", flush=True)
            row = {"name": f"{name}, seed {seed}", "ours_s": seconds, "peer": None, "peer_s": None}
            row |= {"ratio": None, "peak_mb": None, "budgets": budgets, "auroc": area.tolist()}
            rows.append(row | {"accuracy": accuracy.tolist(), "peer_auroc": peer.tolist(), "above": above})
    return rows


def _mnist(quoted: dict[str, Any], data: Any) -> list[dict[str, Any]]:
    """Pixels, black, grey or white, and patches of 4 x 4, known as the nearest of some that k-means has found there."""
    X, train = np.asarray(data.X, dtype=np.float32), np.arange(len(data.y)) < 60_000
    grey = np.searchsorted(MNIST_GREY, X.ravel(), side="right").reshape(X.shape).astype(np.int8)
    pixels = [k for k in quoted["pixels"] if k <= 30]
    began = time.process_time()
    patches = _patches(X, train)
    coded = time.process_time() - began
    return [
        _of_images("pixels", grey, data.y, train, 0.0, pixels, quoted["accuracy"]),
        _of_images("patches", patches, data.y, train, coded, quoted["patches_4x4"], quoted["patch_accuracy"]),
    ]


def _patches(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Code of each of the 49 patches of each image, (n, 49)."""
    squares = X.reshape(-1, 7, 4, 7, 4).transpose(0, 1, 3, 2, 4).reshape(len(X), 49, 16)
    codes = np.empty(squares.shape[:2], dtype=np.int8)
    for j in range(49):
        found = MiniBatchKMeans(MNIST_CODES, n_init=1, batch_size=2048, max_iter=20, random_state=0)
        codes[:, j] = found.fit(squares[train, j][:20_000]).predict(squares[:, j])
    return codes


def _of_images(
    name: str,
    codes: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    before: float,
    budgets: list[int],
    quoted: list[float],
) -> dict[str, Any]:
    peer, size = np.array(quoted[: len(budgets)]), MNIST_SIZE[name]
    codes = np.minimum(codes, codes[train].max(axis=0))  # a pixel that is always black may be white in a test image
    print(f"\n{f'MNIST, {name}: accuracy, %':38}" + "".join(f"{k:>7}" for k in budgets) + "   mean 1-10  CPU s")
    show_line("GDFS, as published", peer, budgets, None)
    began = time.process_time()
    model = ClassMixture(size, shrinkage=MNIST_SHRINKAGE, max_iter=MNIST_STEPS[name])
    how = {"discretizer": "precomputed", "order": "adaptive", "max_candidates": None}
    clf = SequentialClassifier(model, SOLVER, **how).fit(codes[train], y[train])
    fitted = before + time.process_time() - began
    beliefs = beliefs_at(clf, codes[~train], budgets)
    seconds = before + time.process_time() - began
    accuracy = np.array([100 * np.mean(clf.classes_[belief.argmax(axis=1)] == y[~train]) for belief in beliefs])
    show_line(f"{size} components a class", accuracy, budgets, seconds)
    print(
        f"{'':38}of which {fitted:.0f} s the fit; above GDFS at {(accuracy > peer).sum()} of {len(budgets)}", flush=True
    )
    row = {"name": f"MNIST {name}, {size} components a class", "ours_s": fitted, "peer": None, "peer_s": None}
    row |= {"ratio": None, "peak_mb": None, "budgets": budgets, "accuracy": accuracy.tolist()}
    return row | {"peer_accuracy": peer.tolist()}


def beliefs_at(clf: SequentialClassifier, X: Any, budgets: list[int]) -> list[np.ndarray]:
    """P(class) of each row after so many features: what is asked does not depend on what is left."""
    beliefs = clf.acquire(X, budget=max(budgets), record_beliefs=True).beliefs
    assert beliefs is not None
    return [beliefs[:, min(k, beliefs.shape[1] - 1)] for k in budgets]


def show_line(name: str, area: np.ndarray, budgets: list[int], seconds: float | None) -> None:
    took = "" if seconds is None else f"{seconds:7.1f}"
    mean = area[np.array(budgets) <= 10].mean()
    print(f"{name:38}" + "".join(f"{value:7.2f}" for value in area) + f"  {mean:10.2f}{took}", flush=True)


def _fall(area: np.ndarray) -> float:
    """How far the area falls at most as the budget grows."""
    return float((np.maximum.accumulate(area) - area).max())


if __name__ == "__main__":
    main()
