from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def data():
    """60 rows, 5 features of 2 to 4 outcomes that depend on 3 classes."""
    rng = np.random.default_rng(7)
    y = rng.choice(["a", "b", "c"], size=60, p=[0.5, 0.3, 0.2])
    shift = np.searchsorted(["a", "b", "c"], y)
    sizes = np.array([2, 3, 4, 4, 3])
    X = (rng.integers(0, 4, size=(60, 5)) + shift[:, None] * (rng.random((60, 5)) < 0.5)) % sizes
    return X.astype(np.int8), y
