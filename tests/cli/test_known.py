"""Columns that are known of every case, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass.pomdp import FirstK


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(240) % 2
    frame = pd.DataFrame({name: (rng.random(240) < 0.2 + 0.5 * y).astype(int) for name in ("age", "a", "b")})
    frame["age"] = np.where(frame["age"] == 1, "old", "young")
    frame["ill"] = np.where(y == 1, "yes", "no")
    frame.to_csv("train.csv", index=False)
    Path("costs.csv").write_text("feature,cost\na,0.02\nb,0.03\n")
    return frame


FIT = ["fit", "train.csv", "--target", "ill", "-o", "m.seq", "--known", "age"]


@pytest.mark.slow_cells("how0", "how1")
@pytest.mark.parametrize("how", [["--method", "etana"], ["--method", "etana", "--order", "adaptive"], []])
def test_fit_show_ask_and_predict(table: pd.DataFrame, run: Any, how: list[str]) -> None:
    result = run(*FIT, "--costs", "costs.csv", *how)
    assert result.exit_code == 0, result.stderr
    clf = seqclass.load("m.seq")
    assert clf.known == ["age"]
    assert "age" not in clf.problem_.features.tolist()
    shown = run("show", "m.seq").stdout
    assert "known         age: before the first question, at no price" in shown
    assert json.loads(run("show", "m.seq", "--json").stdout)["known"] == ["age"]
    live = run("ask", "m.seq", answers="age = old\n0\n0\n").stdout
    assert "Known at the start as a rule, and not told yet: 'age'" in live or "not told yet: age" in live
    told = run("ask", "m.seq", "--known", "age=old", answers="quit\n").stdout
    assert "not told yet" not in told
    decided = run("predict", "m.seq", "train.csv", "-o", "out.csv")
    assert decided.exit_code == 0, decided.stderr
    asked = pd.read_csv("out.csv")["asked"].fillna("")
    assert not asked.str.contains("age").any()
    assert json.loads(run("evaluate", "m.seq", "train.csv", "--json").stdout)["accuracy"] > 0.6
    assert "0." in run("explain", "m.seq", "train.csv", "--row", "1").stdout


@pytest.mark.slow
def test_rows_of_files_tell_what_is_known(table: pd.DataFrame, run: Any, refuses: Any) -> None:
    rows = table[["age", "a", "b"]]
    costs = seqclass.Costs([0.0, 0.05, 0.05], bundles=[None, "both", "both"])
    solver = FirstK(1, certificate_paths=0)
    clf = seqclass.SequentialClassifier(solver=solver, known=["age"], feature_costs=costs).fit(rows, table["ill"])
    clf.save("m.seq")
    record = clf.acquire(rows)
    assert run("predict", "m.seq", "train.csv", "-o", "out.csv").exit_code == 0
    np.testing.assert_allclose(pd.read_csv("out.csv")["posterior_no"], record.posterior[:, 0], atol=1e-5)
    told = json.loads(run("evaluate", "m.seq", "train.csv", "--target", "ill", "--json").stdout)
    assert told["accuracy"] == pytest.approx((record.decision == table["ill"]).mean())
    told = json.loads(run("explain", "m.seq", "train.csv", "--row", 2, "--json").stdout)
    told.pop("row")
    assert told == json.loads(clf.explain(rows.iloc[[1]])[0].to_json())
    for lacking in ("age", "b"):
        table.drop(columns=lacking).to_csv("fewer.csv", index=False)
        assert f"lacks the column '{lacking}'" in refuses("predict", "m.seq", "fewer.csv")
        assert f"lacks the column '{lacking}'" in refuses("explain", "m.seq", "fewer.csv")
    table.drop(columns="age").to_csv("fewer.csv", index=False)
    told_twice = refuses("ask", "m.seq", "--known", "age=1", "--known", " age = 2")
    assert "--known tells of 'age' more than once; tell of it once." in told_twice
    assert "lacks the column 'age'" in refuses("certify", "m.seq", "fewer.csv", "--target", "ill")


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (["--known", "agee"], "--known names 'agee', which is not a feature; did you mean 'age'"),
        (["--known", "age"], "--known names feature 'age' more than once"),
        (["--known", "a", "--known", "b"], "known names all columns"),
    ],
)
def test_wrong_names_are_refused_in_a_line(table: pd.DataFrame, run: Any, known: list[str], message: str) -> None:
    result = run(*FIT, *known)
    assert result.exit_code != 0
    assert message in result.stderr
    assert not Path("m.seq").exists()


def test_plans_and_comparisons(table: pd.DataFrame, run: Any) -> None:
    Path("flu.bif").write_text("""network flu { }
variable flu { type discrete [ 2 ] { no, yes }; }
variable fever { type discrete [ 2 ] { none, high }; }
variable swab { type discrete [ 2 ] { negative, positive }; }
probability ( flu ) { table 0.8, 0.2; }
probability ( fever | flu ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }
probability ( swab | flu ) { (no) 0.95, 0.05; (yes) 0.1, 0.9; }
""")
    result = run("plan", "flu.bif", "-t", "flu", "-o", "p.seq", "--known", "fever")
    assert result.exit_code == 0, result.stderr
    assert "Deciding at once costs 0.1200." in result.stdout  # by the fever, which is known
    live = run("ask", "p.seq", "--known", "fever=high", answers="positive\n").stdout
    assert "1. fever" not in live
    assert "Decision: yes" in live
    assert "names 'feever'" in run("plan", "flu.bif", "-t", "flu", "-o", "q.seq", "--known", "feever").stderr
    result = run("compare", "train.csv", "-t", "ill", "--known", "age", "--folds", "2", "-o", "r.run", "-m", "etana")
    assert result.exit_code == 0, result.stderr
