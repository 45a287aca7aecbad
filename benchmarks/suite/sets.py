"""The sets of the suite: fixed rows, folds and prices, and a fingerprint that says whether they are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _real import LABELS, TABLES, absent, read_table
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import TargetEncoder

from seqclass import datasets

#: What each set is, and its fingerprint.
MANIFEST = Path(__file__).with_name("sets.csv")
#: Rows of a larger set that are drawn, and folds of which the first are run.
MOST_ROWS, N_FOLDS, RUN_FOLDS = 1000, 5, 3
#: What a feature costs where an error costs 1.
PRICES = ("0.01", "0.001", "0.1")
#: Sets of ``costs``, whose tests have prices of their own in units of the mean error (middle level, without discounts).
PRICED = ("car", "flare", "glass", "tictactoe")
#: Features that may be asked of a row at most, where the field has hard budgets.
BUDGETS: dict[str, tuple[int, ...]] = {"actg175": (5, 10), "bank": (4, 7), "spambase": (5, 10), "digits": (5, 10)}
#: All prices and budgets.
SETTINGS = (*PRICES, "tests", *(f"{n} features" for n in sorted({n for each in BUDGETS.values() for n in each})))
#: Those of scikit-learn need no file; in the order in which they are run.
EMBEDDED = ("iris", "wine", "breast_cancer", "digits")
SETS = (
    *("iris", "wine", "glass", "breast_lj", "saheart", "colic", "tictactoe", "breast_cancer", "pima", "vehicle"),
    *("flare", "car", "cmc", "bands", "credit_g", "segment", "actg175", "bank", "thyroid_ann", "spambase"),
    *("colon_disc", "mll", "usenet1", "digits", "lung2_desouto1543", "madelon"),
)


class Table(NamedTuple):
    """A part of a set, as it is given and as numbers; cells that are missing; and classes."""

    given: Any
    numbers: np.ndarray
    missing: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Set:
    """Fixed rows of a set, their classes as numbers, and the prices of its tests where it has any."""

    name: str
    X: Any
    y: np.ndarray
    tests: np.ndarray | None = None

    def settings(self) -> tuple[str, ...]:
        """Names of the prices and budgets that it is for."""
        own = ("tests",) if self.tests is not None else ()
        return (*PRICES, *own, *(f"{n} features" for n in BUDGETS.get(self.name, ())))

    def prices(self, setting: str) -> tuple[np.ndarray, int | None]:
        """Price of each feature, and how many may be asked of a row."""
        width = self.X.shape[1]
        if setting.endswith(" features"):
            return np.zeros(width), int(setting.split()[0])
        if setting == "tests":
            assert self.tests is not None
            return self.tests, None
        return np.full(width, float(setting)), None

    def split(self, fold: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to learn from and to tell on."""
        parts = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(np.zeros(len(self.y)), self.y)
        return list(parts)[fold]

    def fold(self, fold: int) -> tuple[Table, Table]:
        """The two parts of a fold; numbers are made by what the first says."""
        train, test = self.split(fold)
        frame = isinstance(self.X, pd.DataFrame)
        a, b = (self.X.iloc[at].copy() if frame else self.X[at] for at in (train, test))
        empty = [np.asarray(pd.isna(part)) for part in (a, b)]
        y = self.y[train]
        return tuple(
            Table(part, number, gone, self.y[at])
            for part, number, gone, at in zip((a, b), as_numbers(a, b, y), empty, (train, test))
        )  # type: ignore[return-value]

    def fingerprint(self) -> str:
        """Of values, classes and test rows, so that figures of other rows are not held against these."""
        digest = hashlib.sha256(np.ascontiguousarray(self.y, dtype=np.int64).tobytes())
        digest.update(np.concatenate([self.split(k)[1] for k in range(N_FOLDS)]).astype(np.int64).tobytes())
        if isinstance(self.X, pd.DataFrame):
            digest.update(self.X.to_csv(index=False, float_format="%.6g").encode())
        else:
            digest.update(np.ascontiguousarray(self.X, dtype=np.float32).tobytes())
        return digest.hexdigest()[:12]


def as_numbers(train: Any, test: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Categories as numbers by the share of the commonest class, and missing numbers as the mean."""
    if isinstance(train, pd.DataFrame):
        text = list(train.select_dtypes(exclude="number"))
        train, test = train.copy(), test.copy()
        if text:
            encoder, common = TargetEncoder(target_type="binary", random_state=0), y == np.bincount(y).argmax()
            train[text] = encoder.fit_transform(train[text], common)
            test[text] = encoder.transform(test[text])
    train, test = np.asarray(train, dtype=float), np.asarray(test, dtype=float)
    if np.isnan(train).any() or np.isnan(test).any():
        fill = SimpleImputer(keep_empty_features=True).fit(train)
        train, test = fill.transform(train), fill.transform(test)
    return train, test


def load(name: str, folder: Path | None) -> Set | None:
    """A set of the suite; None where its file is absent."""
    tests = None
    if name in LABELS or name in TABLES:
        X, labels = read_table(name, folder) or (None, None)
    elif name in PRICED:
        X, labels, tests = _priced(name, folder)
    elif name in datasets.list_datasets(folder):
        data = datasets.load(name, folder)
        X, labels = data.X, data.y
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    else:
        X = labels = None
    if X is None:
        return None
    y = np.unique(labels, return_inverse=True)[1]
    if len(y) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
        X, y = X.iloc[rows].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[rows], y[rows]
    return Set(name, X, y, tests)


def _priced(name: str, folder: Path | None) -> tuple[Any, Any, Any]:
    file = None if folder is None else folder / "costs" / f"{name}.npz"
    if file is None or not file.exists():
        return None, None, None
    with np.load(file, allow_pickle=False) as data:
        errors = data["decision_costs_middle"]
        unit = errors[~np.eye(len(errors), dtype=bool)].mean()
        return data["X"].astype(float), data["y"], data["prices_middle"] / unit


def each(names: Sequence[str], folder: Path | None) -> Iterator[Set]:
    """Those of some sets that are there; of others it is said that they are not, and changed ones are refused."""
    prints = pd.read_csv(MANIFEST, index_col="set")["fingerprint"]
    for name in names:
        data = load(name, folder)
        if data is None:
            absent(name, f"file of {name}")
        elif data.fingerprint() != prints.get(name):
            raise SystemExit(
                f"{name} is not as it was when the suite was frozen: its figures do not belong to these rows"
            )
        else:
            yield data
