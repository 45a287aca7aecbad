"""Deciding for Parquet part by part: whole or not at all, taken up where it was cut short."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from large_cases import cut, people, quick, write

import seqclass
from seqclass import Costs, SequentialClassifier, certify_differential, large
from seqclass.bn import ClassMixture
from seqclass.large import predict_parquet

FRAME, ILL = people(240)


@pytest.fixture(scope="module")
def clf() -> SequentialClassifier:
    return quick(solver=None).fit(FRAME.assign(flag=FRAME["flag"].astype(str)), ILL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "rows", cut(FRAME.assign(case=np.arange(240)), ILL, [100, 130]))


def table(output: Path) -> Any:
    return pd.concat([pd.read_parquet(file) for file in sorted(output.rglob("*.parquet"))], ignore_index=True)


def stamps(output: Path) -> dict[str, int]:
    return {file.name: file.stat().st_ino for file in output.glob("*.parquet")}


def test_decisions_are_those_in_memory(clf: SequentialClassifier, folder: Path, tmp_path: Path) -> None:
    done = predict_parquet(clf, folder, tmp_path / "out", keep=["case", "colour"], chunk_rows=37)
    record, found = clf.acquire(FRAME.assign(flag=FRAME["flag"].astype(str))), table(tmp_path / "out")
    assert found["decision"].tolist() == record.decision.tolist()
    np.testing.assert_allclose(found[["posterior_no", "posterior_yes"]], record.posterior)
    assert found["n_features"].tolist() == record.n_features.tolist()
    assert found["asked"][0] == ";".join(clf.feature_name(j) for j in record.order[0].tolist() if j >= 0)
    assert found["case"].tolist() == list(range(240))
    assert found["colour"].isna().tolist() == FRAME["colour"].isna().tolist()
    assert (done.n_rows, done.n_parts, done.n_skipped) == (240, 3, 0)
    assert (done.n_features, done.paid) == pytest.approx((record.n_features.mean(), record.paid.mean()))
    assert done.decisions == {label: int((record.decision == label).sum()) for label in ("no", "yes")}


def test_a_lost_part_is_decided_again_and_others_stay(clf: SequentialClassifier, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first, before = predict_parquet(clf, folder, out), table(out)
    kept = stamps(out)
    (out / "1.parquet").unlink()
    clf.save(tmp_path / "a.seq")
    again = predict_parquet(seqclass.load(tmp_path / "a.seq"), folder, out)
    assert (again.n_skipped, again.n_rows, again.paid) == (2, first.n_rows, first.paid)
    assert {name: kept[name] for name in ("0.parquet", "2.parquet")}.items() <= stamps(out).items()
    pd.testing.assert_frame_equal(table(out), before)


def test_what_is_cut_short_leaves_whole_parts_only(
    clf: SequentialClassifier, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_part, calls = large.decisions_frame, []

    def fail_later(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 6:  # in the second part
            raise KeyboardInterrupt
        return write_part(*given)

    monkeypatch.setattr(large, "decisions_frame", fail_later)
    with pytest.raises(KeyboardInterrupt):
        predict_parquet(clf, folder, tmp_path / "out", chunk_rows=25)
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["0.parquet"]
    monkeypatch.undo()
    assert predict_parquet(clf, folder, tmp_path / "out").n_skipped == 1


@pytest.mark.slow
def test_a_changed_file_and_other_columns_are_decided_again(
    clf: SequentialClassifier, folder: Path, tmp_path: Path
) -> None:
    predict_parquet(clf, folder, tmp_path / "out")
    FRAME[:9].to_parquet(folder / "1.parquet")
    done = predict_parquet(clf, folder, tmp_path / "out")
    assert (done.n_skipped, done.n_rows) == (2, 219)
    assert predict_parquet(clf, folder, tmp_path / "out", keep=["dose"]).n_skipped == 0


def test_models_are_not_mixed(clf: SequentialClassifier, folder: Path, tmp_path: Path) -> None:
    predict_parquet(clf, folder, tmp_path / "out")
    other = quick(solver=None, feature_costs=0.02).fit(FRAME.assign(flag=FRAME["flag"].astype(str)), ILL)
    with pytest.raises(ValueError, match=r"0\.parquet was decided by another model; name another folder"):
        predict_parquet(other, folder, tmp_path / "out")
    (tmp_path / "out" / "2.parquet").unlink()
    FRAME.to_parquet(tmp_path / "out" / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet is there and was not written by this command"):
        predict_parquet(clf, folder, tmp_path / "out")


@pytest.mark.parametrize("model", [None, ClassMixture(2)])
def test_a_model_is_known_by_what_acts_and_no_more(model: Any, tmp_path: Path) -> None:
    X, y = FRAME[["dose", "visits"]], ILL.to_numpy().astype(str)
    write(tmp_path / "rows", [(X[:9], ILL[:9])])

    def decides(model: SequentialClassifier) -> int:
        return predict_parquet(model, tmp_path / "rows", tmp_path / "out").n_skipped

    clf, twin = (SequentialClassifier(model, max_features=2).fit(X, y) for _ in range(2))
    assert decides(clf) == 0
    clf.predict(X)
    clf.save(tmp_path / "a.seq")
    again = seqclass.load(tmp_path / "a.seq")
    again.predict(X)
    assert [decides(known) for known in (clf, again, twin)] == [1, 1, 1]
    twin.coder_.discretizer_.bin_edges_[0, 0] += 0.01
    clf.set_params(feature_costs=Costs(0.01, charge_missing=True))
    for other in (twin, clf):
        with pytest.raises(ValueError, match="was decided by another model"):
            decides(other)
    assert decides(again) == 1


def test_a_copy_by_pickle_is_the_same_model(clf: SequentialClassifier, folder: Path, tmp_path: Path) -> None:
    predict_parquet(clf, folder, tmp_path / "out")
    copied = pickle.loads(pickle.dumps(clf))
    assert predict_parquet(copied, folder, tmp_path / "out").n_skipped == 3


def test_columns_that_nobody_asks_for_may_be_left_out(clf: SequentialClassifier, tmp_path: Path) -> None:
    rows = FRAME[:20].assign(flag=FRAME["flag"].astype(str))
    asked = {clf.feature_name(j) for j in np.unique(clf.acquire(rows).order).tolist() if j >= 0}
    rows[sorted(asked)].to_parquet(tmp_path / "few.parquet")
    done = predict_parquet(clf, tmp_path / "few.parquet", tmp_path / "out")
    assert done.n_rows == 20
    first = clf.feature_name(int(clf.order_[0]))
    rows.rename(columns={first: f"{first} "}).to_parquet(tmp_path / "fewer.parquet")
    with pytest.raises(ValueError, match=f"lacks the column '{first}', which row 1 needs; did you mean '{first} '"):
        predict_parquet(clf, tmp_path / "fewer.parquet", tmp_path / "out")
    rows.assign(a=1)[["a"]].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="lacks the column"):
        predict_parquet(clf, tmp_path / "none.parquet", tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["few.parquet"]


def test_what_is_known_at_the_start_is_read(tmp_path: Path) -> None:
    rows, labels = FRAME[["dose", "visits", "zeros"]].fillna(0.0), ILL.to_numpy().astype(str)
    clf = SequentialClassifier(known=["visits"], feature_costs=Costs(0.05, bundles=["a", None, "a"])).fit(rows, labels)
    write(tmp_path / "rows", [(rows, ILL)])
    predict_parquet(clf, tmp_path / "rows", tmp_path / "out", chunk_rows=50)
    np.testing.assert_allclose(table(tmp_path / "out")["posterior_no"], clf.predict_proba(rows)[:, 0])
    for lacking in ("visits", "zeros"):  # of a bundle the first stands for all
        write(tmp_path / lacking, [(rows.drop(columns=lacking), ILL)])
        with pytest.raises(ValueError, match=f"lacks the column '{lacking}', which row"):
            predict_parquet(clf, tmp_path / lacking, tmp_path / "others")
    sets = certify_differential(clf, rows, labels, alpha=0.2, allow_seen=True)
    assert predict_parquet(sets, tmp_path / "rows", tmp_path / "again").n_skipped == 0
    with pytest.raises(ValueError, match="was decided by another model"):
        predict_parquet(sets, tmp_path / "rows", tmp_path / "out")


def test_no_rows_give_no_rows(clf: SequentialClassifier, tmp_path: Path) -> None:
    FRAME[:0].to_parquet(tmp_path / "none.parquet")
    done = predict_parquet(clf, tmp_path / "none.parquet", tmp_path / "out")
    assert (done.n_rows, done.paid, done.decisions) == (0, 0.0, {})
    assert pd.read_parquet(tmp_path / "out" / "none.parquet").columns[0] == "decision"


def test_folders_in_folders_keep_their_places(clf: SequentialClassifier, folder: Path, tmp_path: Path) -> None:
    (folder / "place=north").mkdir()
    (folder / "0.parquet").rename(folder / "place=north" / "0.parquet")
    predict_parquet(clf, folder / "place=north", tmp_path / "north", keep=["case"])
    predict_parquet(clf, folder, tmp_path / "out")
    assert (tmp_path / "out" / "place=north" / "0.parquet").is_file()


def test_what_is_read_is_not_written_over(clf: SequentialClassifier, folder: Path, tmp_path: Path) -> None:
    for output in (folder, folder / "out"):
        with pytest.raises(ValueError, match="holds what is read"):
            predict_parquet(clf, folder, output)
    with pytest.raises(ValueError, match="holds what is read"):
        predict_parquet(clf, folder / "0.parquet", folder)
    with pytest.raises(ValueError, match="is a file; name a folder"):
        predict_parquet(clf, folder / "0.parquet", folder / "1.parquet")
    for keep, said in ((["paid"], "a column 'paid' of its own"), (["a", "a"], "given twice"), (["b"], "no column 'b'")):
        with pytest.raises(ValueError, match=said):
            predict_parquet(clf, folder, tmp_path / "out", keep=keep)


def test_a_decision_beside_labels_that_are_numbers_is_written_as_text(tmp_path: Path) -> None:
    costs = Costs(0.01, decision_costs=[[0, 1, 0.1], [1, 0, 0.1]], decisions=["refer"])
    X, y = FRAME[["dose", "visits"]], (ILL == "yes").to_numpy().astype(int)
    clf = SequentialClassifier(feature_costs=costs).fit(X, y)
    write(tmp_path / "rows", [(X, ILL)])
    predict_parquet(clf, tmp_path / "rows", tmp_path / "out")
    found, wanted = table(tmp_path / "out")["decision"].tolist(), list(map(str, clf.predict(X)))
    assert found == wanted
    assert set(wanted) == {"0", "1", "refer"}


def test_files_say_true_and_false_of_columns_that_are_logical_in_memory(tmp_path: Path) -> None:
    flag, y = FRAME["flag"].to_numpy(), (ILL == "yes").to_numpy()
    X = pd.DataFrame({"flag": flag, "own": y})
    clf = SequentialClassifier().fit(X, y)
    X["own"] = [None, *y[1:]]
    write(tmp_path / "rows", [(X, ILL)])
    predict_parquet(clf, tmp_path / "rows", tmp_path / "out")
    assert table(tmp_path / "out")["decision"].tolist() == clf.predict(X).tolist()
    with pytest.raises(ValueError, match="column 'own' holds the unknown category 'yes'; known are 'False', 'True'"):
        clf.predict(X.assign(own=["True", "yes"] * 120))


@pytest.mark.parametrize("known", [None, ["tried"]])
def test_a_column_of_several_marks_is_read_of_files_as_of_rows(tmp_path: Path, known: list[str] | None) -> None:
    told = np.where(ILL == "yes", "tea; rest", np.where(FRAME["visits"] > 1, "rest", "none of these"))
    rows, costs = FRAME[["dose"]].assign(tried=told), Costs(0.01, marks=["tried"])
    clf = quick(solver=None, order="adaptive", feature_costs=costs, known=known).fit(rows, ILL)
    folder = write(tmp_path / "rows", cut(rows, ILL, [100]))
    predict_parquet(clf, folder, tmp_path / "out")
    record, found = clf.acquire(rows), table(tmp_path / "out")
    assert found["asked"].str.contains("tried").any() or known
    assert found["decision"].tolist() == record.decision.tolist()
    np.testing.assert_allclose(found[["posterior_no", "posterior_yes"]], record.posterior)
    rows.assign(tried="rest; x").to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"x\.parquet: .*'x'"):
        predict_parquet(clf, tmp_path / "x.parquet", tmp_path / "other")
