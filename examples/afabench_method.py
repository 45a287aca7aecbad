"""A classifier as a method that AFABench's pipeline runs, and the pipeline's loop on rows of CUBE.

python examples/afabench_method.py

`AFABenchMethod` has what AFABench asks of a method (its protocol `AFAMethod`), with tensors of PyTorch or, as here,
with arrays: PyTorch need not be installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

import seqclass
from seqclass import load as load_model
from seqclass.datasets import load
from seqclass.persistence import save as save_model


class AFABenchMethod:
    """Says what to acquire next, and predicts, from masked features; 0 stops, k asks for the k-th selection."""

    has_builtin_classifier, cost_param = True, None

    def __init__(self, clf: Any, budget: int | None = None, selections: Any = None, device: Any = "cpu") -> None:
        self.clf, self.budget, self.device = clf, budget, device
        #: The selection, from 0, that shows each column: its own, or that of all columns of a bundle.
        self.selections = np.arange(clf.n_features_in_) if selections is None else np.asarray(selections)

    def act(
        self,
        masked_features: Any,
        feature_mask: Any,
        selection_mask: Any = None,
        label: Any = None,
        feature_shape: Any = None,
    ) -> Any:
        """Selection of each row, (*batch, 1)."""
        rows, known = self._flat(masked_features), self._flat(feature_mask).astype(bool)
        column = self.clf.next_question(rows, known, budget=self.budget)
        action = np.where(column < 0, 0, 1 + self.selections[column])
        return self._like(masked_features, action, feature_mask.shape[: -len(feature_shape or [0])] + (1,), whole=True)

    def predict(self, masked_features: Any, feature_mask: Any, label: Any = None, feature_shape: Any = None) -> Any:
        """P(class) of each row, (*batch, n_classes)."""
        rows, known = self._flat(masked_features), self._flat(feature_mask).astype(bool)
        shown = np.where(known, rows, np.nan)  # a budget of 0: nothing more is asked
        belief = self.clf.acquire(shown, known=range(rows.shape[1]), budget=0).posterior
        return self._like(masked_features, belief, feature_mask.shape[: -len(feature_shape or [0])] + (-1,))

    def save(self, path: Path) -> None:
        """Write it to a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        save_model(self.clf, Path(path) / "classifier.seqclass")
        np.savez(Path(path) / "settings.npz", budget=-1 if self.budget is None else self.budget, of=self.selections)

    @classmethod
    def load(cls, path: Path, device: Any = "cpu") -> AFABenchMethod:
        """Read it from a folder."""
        kept = np.load(Path(path) / "settings.npz")
        budget = None if kept["budget"] < 0 else int(kept["budget"])
        return cls(load_model(Path(path) / "classifier.seqclass"), budget, kept["of"], device)

    def to(self, device: Any) -> AFABenchMethod:
        """It computes on the processor wherever the tensors are."""
        self.device = device
        return self

    def set_cost_param(self, cost_param: float) -> None:
        """Prices are part of the fit: fit a classifier for each."""

    def set_seed(self, seed: int | None) -> None:
        """Nothing is drawn."""

    def _flat(self, tensor: Any) -> Any:
        array = np.asarray(tensor.cpu() if hasattr(tensor, "cpu") else tensor)
        return array.reshape(-1, self.clf.n_features_in_)

    def _like(self, tensor: Any, array: Any, shape: Any, whole: bool = False) -> Any:
        if not hasattr(tensor, "new_tensor"):
            return array.reshape(shape)
        made = tensor.new_tensor(array).reshape(shape)
        return made.long() if whole else made


def main() -> None:
    data = load("cube", n_samples=3000)
    train, _, test = np.split(np.arange(3000), [1800, 2400])
    clf = seqclass.etana(0.01, order="adaptive", n_bins=4).fit(data.X[train], data.y[train])
    X, y = data.X[test], data.y[test]
    for budget in (3, 5, None):
        method, mask = AFABenchMethod(clf, budget), np.zeros(X.shape, dtype=bool)
        while True:
            action = method.act(np.where(mask, X, 0.0), mask, feature_shape=X.shape[1:])[:, 0]
            going = np.flatnonzero(action)
            if not going.size:
                break
            mask[going, action[going] - 1] = True
        decision = clf.classes_[method.predict(np.where(mask, X, 0.0), mask, feature_shape=X.shape[1:]).argmax(axis=1)]
        name = "its own price" if budget is None else f"hard budget {budget}"
        macro = f1_score(y, decision, average="macro")
        print(f"{name}: {mask.sum(axis=1).mean():.2f} features, accuracy {(decision == y).mean():.3f}, F1 {macro:.3f}")
        same = clf.acquire(X, budget=budget)
        assert (same.decision == decision).all()  # as all at once


if __name__ == "__main__":
    main()
