"""What the tests of the semi-randomised search share."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten trees, not a hundred, say where a search starts: for tests that look at what comes after."""
    for trees in (ExtraTreesClassifier, ExtraTreesRegressor):

        def fewer(n_estimators: int, trees: Any = trees, **settings: Any) -> Any:
            return trees(n_estimators=n_estimators // 10, **settings)

        monkeypatch.setattr(f"sklearn.ensemble.{trees.__name__}", fewer)
