"""Cells of what is written as CSV are what they were called: a spreadsheet's formulas are not mended, as docs say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import seqclass

NAMES = ("=1+1", "+2", "-1", "@SUM(A1)")


def test_names_that_look_like_formulas_read_back_as_they_were(tmp_path: Path, run: Any) -> None:
    X = np.repeat(np.eye(4), 20, axis=0)
    labels = np.repeat(NAMES, 20)
    seqclass.etana(feature_costs=0.001).fit(pd.DataFrame(X, columns=list(NAMES)), labels).save(tmp_path / "m.seq")
    pd.DataFrame(X, columns=list(NAMES)).to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", tmp_path / "m.seq", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.stderr
    found = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert found["decision"].tolist() == labels.tolist()
    assert [f"posterior_{name}" for name in sorted(NAMES)] == [c for c in found if c.startswith("posterior_")]
    assert set(";".join(found["asked"]).split(";")) <= set(NAMES)
