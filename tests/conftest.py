"""What all tests share: deterministic property tests, and the real data sets where they are at hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, settings

#: What only some of the files hold.
OPTIONAL = (
    *("class_names", "feature_names", "train_idx", "valid_idx", "test_idx"),
    *("cost", "discount_cost", "group"),
)
REPOSITORY = Path(__file__).resolve().parents[1]

# A failure must come back on every machine, and a slow machine must not be one.
settings.register_profile(
    "seqclass",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("seqclass")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data sets: ``SEQCLASS_DATA``, or one beside the checkout."""
    named = os.environ.get("SEQCLASS_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is no folder (set SEQCLASS_DATA to one)")
    return folder


@pytest.fixture(scope="session")
def load_data(data_dir: Path) -> Callable[[str], SimpleNamespace]:
    """Loader of one set by name: ``X`` (dense or CSR), ``y``, and the rest of its file."""

    def load(name: str) -> SimpleNamespace:
        path = data_dir / f"{name}.npz"
        if not path.is_file():
            pytest.skip(f"no real data: {path.name} is not among them")
        with np.load(path, allow_pickle=False) as file:
            parts: dict[str, Any] = {key: file[key] for key in file.files}
        if "indptr" in parts:
            csr = (parts.pop("data"), parts.pop("indices"), parts.pop("indptr"))
            parts["X"] = sp.csr_array(csr, shape=tuple(parts.pop("shape")))
        return SimpleNamespace(**(dict.fromkeys(OPTIONAL) | parts))

    return load
