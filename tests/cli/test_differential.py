"""Sets of possible classes: ``certify --metric differential``, and the commands after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass


def table(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    frame = pd.DataFrame(y[:, None] * 0.6 + rng.normal(size=(n, 4)), columns=["a", "b", "c", "d"])
    return frame.assign(illness=np.array(["flu", "cold", "angina; acute"])[y])


def test_sets_go_from_certify_to_predict_and_ask(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    train, new = table(200, 0), table(20, 2).drop(columns="illness")
    clf = seqclass.etana(0.02).fit(train.drop(columns="illness"), train["illness"])
    clf.save("m.seq")
    table(300, 1).to_csv("fresh.csv", index=False)
    new.to_csv("new.csv", index=False)
    done = run(
        "certify", "m.seq", "fresh.csv", "-t", "illness", "--metric", "differential", "--alpha", "0.1", "-o", "d.seq"
    )
    assert "lack the true one in at most 10.0% of cases" in " ".join(done.stdout.split())
    told = seqclass.load("d.seq")
    words = done.stdout.partition("\n\n")[0]
    assert words in run("show", "d.seq").stdout
    record = json.loads(run("show", "d.seq", "--json").stdout)["differential"]
    assert (record["alpha"], record["n_rows"], record["by_class"]) == (0.1, 300, False)
    assert list(record["limits"]) == told.classes_.tolist()
    assert "Sets of classes" not in run("show", "m.seq").stdout
    expected = told.acquire(new).to_frame(told.classes_)["differential"]
    run("predict", "d.seq", "new.csv", "-o", "out.csv")
    sets = pd.read_csv("out.csv")["differential"]
    # a name with the sign that parts names is quoted
    assert sets.tolist() == [";".join(f'"{one}"' if ";" in one else one for one in row) for row in expected]
    case, answers = told.session(), []
    while (question := case.next_feature) is not None:
        answers.append(str(new[question.name][0]))
        case.observe(question.name, new[question.name][0])
    shown = run("ask", "d.seq", answers="\n".join([*answers, ""])).stdout
    assert "Still possible, but for 10.0% of cases: " in shown
    assert all(label in shown.partition("Still possible")[2] for label in case.differential)
    by_class = run("certify", "m.seq", "fresh.csv", "-t", "illness", "--metric", "differential", "--by-class", "--json")
    assert '"by_class": true' in by_class.stdout


def test_what_does_not_go_with_sets_is_said(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    train = table(60, 0)
    seqclass.etana(0.02).fit(train.drop(columns="illness"), train["illness"]).save("m.seq")
    table(30, 1).to_csv("fresh.csv", index=False)
    for options in (["--by-class"], ["--metric", "differential", "--class", "flu"]):
        failed = run("certify", "m.seq", "fresh.csv", "-t", "illness", *options)
        assert failed.exit_code == 2
        assert "--metric differential goes with --by-class" in " ".join(failed.stderr.split())
    few = run(
        "certify", "m.seq", "fresh.csv", "-t", "illness", "--metric", "differential", "--alpha", "0.05", "-o", "d.seq"
    )
    assert few.exit_code != 0
    assert "too few for --alpha 0.05" in " ".join(few.stderr.split())
    assert not Path("d.seq").exists()
