"""Trains seqclass as a method of AFABench: `install.py` puts it where the pipeline calls it.

python examples/afabench/train.py --check

With --check the same steps run without AFABench, Hydra and PyTorch, on stand-ins for its data set, unmasker and loop.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import seqclass
from seqclass.datasets import load


def shown_by(unmasker: Any, shape: Any, zeros: Any, arange: Any) -> Any:
    """Selection, from 0, that shows each column: what the unmasker unmasks if nothing is known."""
    n = unmasker.get_n_selections(shape)
    mask = np.asarray(
        unmasker.unmask(
            masked_features=zeros((n, *shape)),
            feature_mask=zeros((n, *shape)) > 0,
            features=zeros((n, *shape)) + 1,
            afa_selection=arange(n)[:, None],
            selection_mask=zeros((n, n)) > 0,
            feature_shape=shape,
        )
    ).reshape(n, -1)
    if (mask.sum(axis=0) != 1).any():
        raise ValueError("seqclass needs an unmasker by which each feature is shown by exactly one selection.")
    return mask.argmax(axis=0)


def fit(X: Any, labels: Any, prices: Any, selections: Any, hard_budget: Any, soft: Any, smoke_test: bool) -> Any:
    """A classifier that asks a number of questions, or while they pay; one-hot labels, a price a selection."""
    y = np.asarray(labels).argmax(axis=1)
    if len(np.unique(y)) < np.shape(labels)[1]:
        raise ValueError("every class needs a training row.")
    bundles = [f"selection {k}" if (selections == k).sum() > 1 else None for k in selections]
    costs = np.asarray(prices, dtype=float)[selections] * (0.01 if soft is None else soft)
    rows = slice(300 if smoke_test else None)
    clf = seqclass.adaptive(
        seqclass.Costs(costs, bundles=bundles if any(bundles) else None),
        budget=None if hard_budget is None else min(int(hard_budget), int(selections.max()) + 1),
    )
    return clf.fit(X[rows], y[rows], held_out=0 if smoke_test else None)


def train(cfg: Any) -> None:
    """What the pipeline calls, with its settings."""
    import torch
    from afabench.common.bundle import load_bundle, save_bundle
    from afabench.common.unmaskers.utils import get_afa_unmasker_from_config
    from afabench.seqclass_method import AFABenchMethod

    data, manifest = load_bundle(Path(cfg.train_dataset_bundle_path))
    features, labels = data.get_all_data()
    unmasker, shape = get_afa_unmasker_from_config(cfg.unmasker), data.feature_shape
    selections = shown_by(unmasker, shape, torch.zeros, torch.arange)
    prices = unmasker.get_selection_costs(data.get_feature_acquisition_costs()).reshape(-1).numpy()
    X = features.reshape(len(features), -1).numpy()
    clf = fit(X, labels.numpy(), prices, selections, cfg.hard_budget, cfg.soft_budget_param, cfg.smoke_test)
    metadata = {name: cfg[name] for name in ("train_dataset_bundle_path", "seed", "soft_budget_param", "hard_budget")}
    metadata |= {"dataset_class_name": manifest["class_name"], "unmasker_class_name": cfg.unmasker.class_name}
    metadata |= {"initializer_class_name": cfg.initializer.class_name}
    save_bundle(AFABenchMethod(clf, cfg.hard_budget, selections), Path(cfg.save_path), metadata)


class Unmasker:
    """A stand-in for theirs: the columns of a bundle at once, each other column by itself."""

    def __init__(self, selections: Any) -> None:
        self.selections = selections

    def get_n_selections(self, shape: Any) -> int:
        """How many selections there are."""
        return int(self.selections.max()) + 1

    def unmask(self, feature_mask: Any, afa_selection: Any, **others: Any) -> Any:
        """What is known after a selection each."""
        return feature_mask | (self.selections == afa_selection)


def check() -> None:
    """The steps of `train`, and the loop of their evaluation, which ends a case at a budget that is a sum of costs."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from afabench_method import AFABenchMethod

    data = load("cube_nm", n_samples=1200)
    bundled = np.array([bundle is not None for bundle in data.bundles])
    unmasker = Unmasker(np.where(bundled, 0, np.cumsum(~bundled)))
    shape, labels = (data.X.shape[1],), np.eye(data.n_classes)[data.y]
    selections = shown_by(unmasker, shape, np.zeros, np.arange)
    n_selections = unmasker.get_n_selections(shape)
    for hard, soft in ((5, None), (None, 0.02)):
        clf = fit(data.X[:800], labels[:800], np.ones(n_selections), selections, hard, soft, smoke_test=True)
        method, X, y = AFABenchMethod(clf, hard, selections), data.X[800:], data.y[800:]
        mask, paid = np.zeros(X.shape, dtype=bool), np.zeros(len(X))
        active = np.arange(len(X))
        while active.size:
            action = method.act(np.where(mask, X, 0.0)[active], mask[active], feature_shape=shape)[:, 0]
            action[paid[active] + 1 > (np.inf if hard is None else hard)] = 0
            active, action = active[action > 0], action[action > 0]
            paid[active] += 1
            mask[active] = unmasker.unmask(mask[active], action[:, None] - 1)
        decision = method.predict(np.where(mask, X, 0.0), mask, feature_shape=shape).argmax(axis=1)
        name = f"hard budget {hard}" if soft is None else f"soft budget parameter {soft:g}"
        print(f"{name}: {paid.mean():.2f} selections, accuracy {(decision == y).mean():.3f}")


if __name__ == "__main__":
    if "--check" in sys.argv:
        check()
    else:
        import hydra

        hydra.main(version_base=None, config_path="../../extra/conf/scripts/train/seqclass", config_name="config")(
            train
        )()
