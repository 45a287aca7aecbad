"""Select features of a stream of rows while it flows, keep track of how stable the choice is, and follow a drift.

python examples/streaming_selection.py
python examples/streaming_selection.py --picture stability.png    (needs matplotlib)
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron

from seqclass.selection import EFS, FIRES, FSDS, OFS, nogueira_stability, prequential


def stream(n: int = 12_000, n_features: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Sensors 0 to 4 tell a fault from normal running; from the middle on sensors 100 to 104 do."""
    rng = np.random.default_rng(0)
    X = rng.random((n, n_features))
    telling = np.where(np.arange(n) < n // 2, 0, 100)[:, None] + np.arange(5)
    signal = np.take_along_axis(X, telling, axis=1).sum(axis=1) + rng.normal(scale=0.1, size=n)
    return X, np.where(signal > 2.5, "fault", "normal")


def draw(runs: dict[str, Any], path: str) -> None:
    """Draw accuracy and stability of several selectors over time, and the features that one of them holds."""
    import matplotlib.pyplot as plt

    from seqclass.plots import SelectionMapDisplay, StabilityDisplay

    figure, axes = plt.subplots(3, 1, figsize=(7, 8), layout="constrained", height_ratios=[1, 1, 1.2])
    drift = {60: "other sensors tell"}
    StabilityDisplay(runs, measures=["accuracy", "stability"]).plot(axes[:2], events=drift)
    held = SelectionMapDisplay(runs["FIRES, forgetting"]).plot(axes[2], events={60: ""})
    held.ax_.set_title("sensors that FIRES holds while it forgets", fontsize=10, loc="left")
    figure.savefig(path, dpi=110)
    print(f"\nPicture written to {path}.")


def main() -> None:
    parser = argparse.ArgumentParser(description="Select features of a stream of rows while it flows.")
    parser.add_argument("--picture", metavar="FILE", help="draw accuracy, stability and selection over time into FILE")
    arguments = parser.parse_args()

    X, y = stream()
    half = len(X) // 2

    print("Five of 200 sensors, before the drift: a perceptron is tested on each batch before it learns it.")
    print(f"  {'':20}{'accuracy':>9}{'stability':>11}{'relevant':>10}{'ms a batch':>12}")
    before = {"FIRES": FIRES(5), "OFS": OFS(5), "EFS": EFS(5), "FSDS": FSDS(5), "all sensors": None}
    for name, selector in before.items():
        run = prequential(selector, Perceptron(), X[:half], y[:half])
        relevant = np.isin(run.selected[-1], range(5)).sum()
        print(
            f"  {name:20}{run.mean_accuracy:9.3f}{run.mean_stability:11.3f}{relevant:10}{1e3 * run.mean_seconds:12.2f}"
        )

    print("\nThe whole stream, in which other sensors become the telling ones in batch 60:")
    print(f"  {'':20}{'batches to follow':>18}{'accuracy after it':>19}")
    followers = {"FIRES": FIRES(5), "FIRES, forgetting": FIRES(5, forgetting=0.05), "OFS": OFS(5)}
    runs = {name: prequential(selector, Perceptron(), X, y) for name, selector in followers.items()}
    new = range(100, 105)
    for name, run in runs.items():
        followed = [t for t, chosen in enumerate(run.selected) if np.isin(chosen, new).all()]
        wait = f"{followed[0] - 60}" if followed else "never"
        print(f"  {name:20}{wait:>18}{run.accuracy[60:].mean():19.3f}")

    selector = FIRES(5)
    for start in range(0, half, 100):
        selector.partial_fit(X[start : start + 100], y[start : start + 100], classes=["fault", "normal"])
    old = selector.get_support(indices=True)
    selector.reset()  # as one would on an alarm of a drift detector
    for start in range(half, len(X), 100):
        selector.partial_fit(X[start : start + 100], y[start : start + 100])
    print(f"\nReset at the drift: sensors {old.tolist()}, then {selector.get_support(indices=True).tolist()}")

    bootstrap = np.random.default_rng(1)
    supports = []
    for _ in range(20):
        rows = bootstrap.integers(0, half, 2000)
        supports.append(FIRES(5).fit(X[rows], y[rows]).get_support())
    agreed = nogueira_stability(supports)
    print(f"Stability over 20 resamples: {agreed.value:.3f}, 95% interval {agreed.lower:.3f} to {agreed.upper:.3f}")

    if arguments.picture:
        draw(runs, arguments.picture)


if __name__ == "__main__":
    main()
