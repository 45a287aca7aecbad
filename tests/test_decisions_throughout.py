"""The cheapest decision, not the likeliest class, whatever tells it: some are referred, and errors differ in cost."""

from __future__ import annotations

import io
import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from live_cases import DOUBT_COSTS as COSTS
from live_cases import doubtful, reader

from seqclass import Costs, SequentialClassifier
from seqclass.cli import main
from seqclass.datasets import Dataset
from seqclass.evaluation.certified import certify_error
from seqclass.experiment import Experiment, Results
from seqclass.export import policy_data
from seqclass.large import predict_dask, predict_parquet
from seqclass.metrics import realised_cost, score_rows
from seqclass.pomdp import GridValueIteration
from seqclass.report import write_report

DECISIONS = np.array(["ill", "well", "refer"], dtype=object)
FRAME, LABELS = doubtful(400)
SETTINGS: dict[str, Any] = {"feature_costs": Costs(0.05, decision_costs=COSTS, decisions=["refer"])}


@pytest.fixture(scope="module")
def clf() -> SequentialClassifier:
    return SequentialClassifier(solver=GridValueIteration(100, certificate_paths=0), **SETTINGS).fit(FRAME, LABELS)


def cheapest(posterior: Any) -> list[str]:
    """What to decide, by the table of costs alone; as often as not it is no matter of the likeliest class."""
    decided = DECISIONS[(np.asarray(posterior) @ COSTS).argmin(axis=1)]
    likeliest = DECISIONS[np.asarray(posterior).argmax(axis=1)]
    assert set(decided) == set(DECISIONS)
    assert ((decided != likeliest) & (decided != "refer")).any()  # ill, though it is likelier not
    return list(map(str, decided))


def paid(decided: Any, y: Any) -> Any:
    """Cost of each decision."""
    place = {label: k for k, label in enumerate(DECISIONS)}
    return np.array([COSTS[place[label], place[decision]] for label, decision in zip(y, decided)])


def in_table(table: pd.DataFrame, record: Any) -> None:
    posterior = table[["posterior_ill", "posterior_well"]].to_numpy()
    np.testing.assert_allclose(posterior, record.posterior, rtol=1e-5)
    assert table["decision"].tolist() == cheapest(record.posterior)


def test_in_memory(clf: SequentialClassifier) -> None:
    record = clf.acquire(FRAME)
    decided = cheapest(clf.predict_proba(FRAME))
    assert clf.predict(FRAME).tolist() == record.decision.tolist() == record.to_frame()["decision"].tolist() == decided
    assert clf.score(FRAME, LABELS) == np.mean(np.array(decided) == LABELS)


def test_live_and_explained(clf: SequentialClassifier) -> None:
    some = FRAME[:80]
    record, found, shown = clf.acquire(some), [], clf.explain(some)
    for i, row in some.iterrows():
        session = clf.session()
        while (question := session.next_feature) is not None:
            session.observe(question.name, row[question.name])
        found.append(session.decision)
        np.testing.assert_allclose(session.posterior, record.posterior[i])
        assert f"decide {session.decision}" in str(session)
    decided = cheapest(record.posterior)
    assert found == [one.decision for one in shown] == decided
    for one, decision, belief in zip(shown, decided, record.posterior):
        assert list(one.decision_costs) == list(DECISIONS)
        np.testing.assert_allclose(list(one.decision_costs.values()), belief @ COSTS)
        assert decision in one.decision_text
        assert one.to_dict()["decision"] == decision


def run(*arguments: Any, answers: str | None = None) -> str:
    result = CliRunner().invoke(main, [str(one) for one in arguments], input=answers)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def folder(clf: SequentialClassifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model, and rows as CSV and as a folder of Parquet."""
    path = tmp_path_factory.mktemp("rows")
    clf.save(path / "model.seq")
    FRAME.to_csv(path / "rows.csv", index=False)
    FRAME.assign(status=LABELS).to_csv(path / "labelled.csv", index=False)
    (path / "parquet").mkdir()
    for k, part in enumerate((FRAME[:150], FRAME[150:])):
        part.to_parquet(path / "parquet" / f"{k}.parquet")
    return path


def test_the_command_to_csv_and_json(clf: SequentialClassifier, folder: Path) -> None:
    record = clf.acquire(FRAME)
    in_table(pd.read_csv(io.StringIO(run("predict", folder / "model.seq", folder / "rows.csv"))), record)
    run("predict", folder / "model.seq", folder / "rows.csv", "-o", folder / "out.csv", "--keep", "test 1")
    in_table(pd.read_csv(folder / "out.csv"), record)
    told = json.loads(run("predict", folder / "model.seq", folder / "rows.csv", "--json"))
    assert [row["decision"] for row in told["predictions"]] == cheapest(record.posterior)


def test_the_command_explains_and_asks(clf: SequentialClassifier, folder: Path) -> None:
    decided = np.array(cheapest(clf.acquire(FRAME).posterior))
    likeliest = DECISIONS[clf.predict_proba(FRAME).argmax(axis=1)]
    for kind in (decided == "refer", (decided == "ill") & (likeliest == "well")):
        row = int(kind.argmax())
        FRAME.iloc[[row]].to_csv(folder / "one.csv", index=False)
        told = json.loads(run("explain", folder / "model.seq", folder / "one.csv", "--json"))
        assert told["decision"] == decided[row]
        record = clf.acquire(FRAME.iloc[[row]])
        answers = "".join(f"{FRAME.iloc[row, j]}\n" for j in record.order[0] if j >= 0)
        assert f"Decision: {decided[row]}" in run("ask", folder / "model.seq", answers=answers)


@pytest.mark.slow
def test_parquet_in_parts(clf: SequentialClassifier, folder: Path, tmp_path: Path) -> None:
    record = clf.acquire(FRAME)
    done = predict_parquet(clf, folder / "parquet", tmp_path / "a", chunk_rows=37)
    run("predict", folder / "model.seq", folder / "parquet", "-o", tmp_path / "b")
    for written in (tmp_path / "a", tmp_path / "b"):
        in_table(pd.concat(map(pd.read_parquet, sorted(written.glob("*.parquet"))), ignore_index=True), record)
    decided = cheapest(record.posterior)
    assert done.decisions == {label: decided.count(label) for label in DECISIONS}


@pytest.mark.slow
def test_dask(clf: SequentialClassifier) -> None:
    dd = pytest.importorskip("dask.dataframe")
    in_table(predict_dask(clf, dd.from_pandas(FRAME, npartitions=3)).compute(), clf.acquire(FRAME))


def test_scores(clf: SequentialClassifier, folder: Path) -> None:
    record = clf.acquire(FRAME)
    decided = np.array(cheapest(record.posterior))
    wrong = paid(decided, LABELS)
    command = json.loads(run("evaluate", folder / "model.seq", folder / "labelled.csv", "--target", "status", "--json"))
    for found in (score_rows(clf, FRAME, LABELS).record(), command):
        assert found["mean_decision_cost"] == pytest.approx(wrong.mean())
        assert found["realised_cost"] == pytest.approx((wrong + record.paid).mean())
        assert found["accuracy"] == pytest.approx(np.mean(decided == LABELS))
        for one in found["classes"]:
            own = one["label"] == LABELS
            assert one["sensitivity"] == pytest.approx(np.mean(decided[own] == one["label"]))
            assert one["realised_cost"] == pytest.approx((wrong + record.paid)[own].mean())
    names = {"classes": ["ill", "well"], "decisions": DECISIONS}
    assert realised_cost(LABELS, decided, record.paid, decision_costs=COSTS, **names) == pytest.approx(
        (wrong + record.paid).mean()
    )


@pytest.mark.parametrize("ladder", ["belief", "price"])
def test_certified(clf: SequentialClassifier, ladder: str) -> None:
    """What every rule of a ladder is charged is what its own decisions cost; a case that is referred is no error."""
    found = certify_error(clf, FRAME, LABELS, alpha=1.2, metric="cost", ladder=ladder, n_rungs=5, allow_seen=True)
    record = found.acquire(FRAME)
    wrong = paid(cheapest(record.posterior), LABELS)
    assert found.risk == pytest.approx((wrong + record.paid).mean())
    error = certify_error(clf, FRAME, LABELS, alpha=0.6, ladder=ladder, n_rungs=5, allow_seen=True)
    decided = error.acquire(FRAME).decision
    assert error.risk == pytest.approx(np.mean((decided != LABELS) & (decided != "refer")))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    codes = (LABELS == "well").astype(int)
    names, decisions = tuple(FRAME.columns), ("refer",)
    data = Dataset("people", FRAME.to_numpy(), codes, ("ill", "well"), names, decision_costs=COSTS, decisions=decisions)
    return Experiment([data], ["etana"], prices=[0.05], cv=2).run(tmp_path_factory.mktemp("run") / "a.run")


def test_an_experiment(results: Results) -> None:
    frame, kept = results.instances(), results.record("people", "etana")
    posterior = frame[["proba_ill", "proba_well"]].to_numpy()
    decided = cheapest(posterior)
    assert frame["decision"].tolist() == decided
    assert kept.record.decision.tolist() == cheapest(kept.record.posterior)
    wrong = paid(decided, frame["truth"])
    assert results.to_frame()["realised_cost"].mean() == pytest.approx((wrong + frame["paid"]).mean(), rel=0.01)
    for one in results.class_scores("people", "etana"):
        own = (frame["truth"] == one.label).to_numpy()
        assert one.sensitivity == pytest.approx(np.mean(np.array(decided)[own] == one.label))
        assert one.realised_cost == pytest.approx((wrong + frame["paid"].to_numpy())[own].mean())


@pytest.mark.slow
def test_a_report(results: Results, tmp_path: Path) -> None:
    text = write_report(results, tmp_path / "page.html").read_text(encoding="utf-8")
    [told] = json.loads(re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)[0])
    explored = results.read_explored(results.to_frame().index[0])
    assert explored is not None
    decided = [one.decision for one in explored.explanations]
    assert decided == cheapest([one.posterior for one in explored.explanations])
    for case, decision in zip(told["cases"], decided):
        assert re.search(rf": {decision}, \d asked", case["title"])
        assert decision in case["decided"]
    for one in results.class_scores("people", "etana"):
        assert f"{one.realised_cost:.4f}" in text


@pytest.mark.parametrize("order", ["given", "adaptive"])
def test_exported_as_data(order: str) -> None:
    clf = SequentialClassifier(order=order, **SETTINGS).fit(FRAME, LABELS)
    data = policy_data(clf)
    assert data["decisions"] == list(DECISIONS)
    assert data["decision_costs"] == COSTS.tolist()
    if order == "adaptive":
        stands = []
        for outcomes in product(*([0, f["n_outcomes"] // 2, f["n_outcomes"] - 1] for f in data["features"])):
            case = reader()(data)
            while (stand := case.stand())[1] >= 0:
                case.tell(stand[1], [outcomes[stand[1]]])
                stands.append(stand)
            stands.append(stand)
        assert [data["decisions"][stand[3]] for stand in stands] == cheapest([stand[0] for stand in stands])
