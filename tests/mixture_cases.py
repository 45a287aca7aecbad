"""Rows of several kinds in each class, and answers of models of hidden states by plain enumeration."""

from __future__ import annotations

import numpy as np


def random_data(seed, n=90, n_features=6, n_classes=3, missing=0.0):
    """Rows of several kinds in each class."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, n_features)
    y, kind = rng.integers(0, n_classes, n), rng.integers(0, 3, n)
    shift = rng.integers(0, 4, (n_classes, 3, n_features))[y, kind]
    X = (shift + (rng.random((n, n_features)) < 0.3) * rng.integers(0, 4, (n, n_features))) % sizes
    X = np.where(rng.random(X.shape) < missing, -1, X)
    return X.astype(np.int8), y, sizes


def summed_out(model, evidence):
    """P(class | evidence) and P(outcome | evidence, class) of every feature, one row and hidden state at a time."""
    n_classes, size = len(model.classes_), model.tables_.shape[1]
    posterior = np.zeros((len(evidence), n_classes))
    likelihood = np.zeros((len(evidence), model.n_features_in_, size, n_classes))
    for i, row in enumerate(evidence):
        for j in range(model.n_features_in_):
            mass = np.zeros(n_classes)
            for h, c in enumerate(model.hidden_class_):
                p = model.weights_[h]
                for k, v in enumerate(row):
                    p *= model.tables_[k, v, h] if v >= 0 and k != j else 1.0
                mass[c] += p
                likelihood[i, j, :, c] += p * model.tables_[j, :, h]
            likelihood[i, j] /= mass
        for h, c in enumerate(model.hidden_class_):
            seen = [model.tables_[k, v, h] for k, v in enumerate(row) if v >= 0]
            posterior[i, c] += model.class_prior_[c] * model.weights_[h] * np.prod(seen)
    return posterior / posterior.sum(axis=1, keepdims=True), likelihood
