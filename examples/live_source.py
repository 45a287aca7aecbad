"""A slow service tells what is asked of patients when it is asked: a run that is cut short, and the one that goes on.

python examples/live_source.py
python examples/live_source.py --kept answers.db    (the file stays: run it again, and nothing is asked)
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import seqclass


class Laboratory:
    """Measures after a while; every seventh call is lost, and nothing comes after so many calls."""

    def __init__(self, patients: Any, closes_after: float = np.inf) -> None:
        self.patients, self.closes_after = patients, closes_after
        self.calls = self.measured = self.at_once = self.most_at_once = 0

    async def __call__(self, rows: Any, feature: str) -> Any:
        """Values of one feature of some patients, who are numbered from 0."""
        self.calls += 1
        if self.calls > self.closes_after:
            raise KeyboardInterrupt  # as if somebody had had enough
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.002)
        self.at_once -= 1
        if self.calls % 7 == 0:
            raise TimeoutError("the laboratory does not answer")
        self.measured += len(rows)
        return self.patients[feature].iloc[rows]


def main() -> None:
    parser = argparse.ArgumentParser(description="Classify patients whose measurements come from a slow service.")
    parser.add_argument("--kept", metavar="FILE", help="where the answers are kept; by default they are thrown away")
    arguments = parser.parse_args()

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=200, random_state=0, stratify=y)
    clf = seqclass.etana(0.01).fit(X_train, y_train)

    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "answers.db" if arguments.kept is None else arguments.kept
        how = {"n": len(X_test), "kept": kept, "batch_size": 20, "concurrency": 4}
        first = Laboratory(X_test, closes_after=25)
        try:
            clf.acquire(provider=first, **how)
        except KeyboardInterrupt:
            print(f"cut short after {first.measured} measurements, all kept")
        second = Laboratory(X_test)
        record = clf.acquire(provider=second, **how)
        print(f"went on with {second.measured} more in {second.calls} calls, at most {second.most_at_once} at a time")
        third = Laboratory(X_test)
        clf.acquire(provider=third, **how)
        print(f"once more: {third.calls} calls")

    print(f"{record.n_features.sum()} of {X_test.size} measurements, accuracy {(record.decision == y_test).mean():.3f}")
    table = clf.acquire(X_test)  # had all been measured beforehand
    print("the same record as from a whole table:", bool((record.order == table.order).all()))


if __name__ == "__main__":
    main()
