"""Interviews as data."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from seqclass import SequentialClassifier
from seqclass.datasets import load_interviews
from seqclass.pomdp import Adaptive, ClassInformation

SAID, ASKED = "explicit_inform_slots", "implicit_inform_slots"


def record(disease, said, asked, nested=True):
    slots = {SAID: said, ASKED: asked}
    return {"disease_tag": disease} | ({"goal": slots} if nested else slots)


RECORDS = [
    record("flu", {"cough": True}, {"fever": True, "rash": "UNK"}),
    record("cold", {"fever": False, "cough": True}, {"rash": False}),
    record("flu", {}, {"cough": "0", "fever": 1}, nested=False),
]
COLUMNS = ["cough (volunteered)", "fever (volunteered)", "cough", "fever", "rash"]
CELLS = [
    ["yes", "not mentioned", None, "yes", "not sure"],
    ["yes", "no", None, None, "no"],
    ["not mentioned", "not mentioned", "no", "yes", "not sure"],
]


def written(folder: Path, content, name="cases.json") -> Path:
    path = folder / name
    text = content if isinstance(content, (str, bytes)) else json.dumps(content)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def cells(data):
    return [[None if value != value else value for value in row] for row in data.X.astype(object).to_numpy().tolist()]


def test_records_become_columns(tmp_path):
    data = load_interviews(written(tmp_path, RECORDS))
    assert list(data.X.columns) == COLUMNS
    assert cells(data) == CELLS
    assert data.labels.tolist() == ["flu", "cold", "flu"]
    assert data.known == {"cough (volunteered)": "cough", "fever (volunteered)": "fever"}
    assert data.mentioned.tolist() == [[False, False, False, True, False], [False] * 4 + [True], [0, 0, 1, 1, 0]]
    assert data.test_index is data.train_index is None
    assert data.take([2]).mentioned.tolist() == [[0, 0, 1, 1, 0]]


def test_the_publishers_split_is_kept(tmp_path):
    parts = {"train": RECORDS[:2], "test": RECORDS[2:]}
    data = load_interviews(written(tmp_path, parts))
    assert (data.train_index.tolist(), data.test_index.tolist()) == ([0, 1], [2])
    beside = load_interviews(
        written(tmp_path, RECORDS[:2]), test=written(tmp_path, RECORDS[2:], "more.json"), name="two"
    )
    assert (beside.train_index.tolist(), beside.test_index.tolist()) == ([0, 1], [2])
    assert cells(beside) == cells(data) == CELLS
    with pytest.raises(ValueError, match="has test cases of its own"):
        load_interviews(written(tmp_path, parts), test=tmp_path / "more.json")


def test_lines_and_arrays_say_the_same(tmp_path):
    lines = ["case,disease,symptom,told,value,part"]
    for number, one in enumerate(RECORDS):
        slots, part = one.get("goal", one), "test" if number == 2 else "train"
        for told in (SAID, ASKED):
            for symptom, value in slots[told].items():
                lines.append(f"{number},{one['disease_tag']},{symptom},{told.split('_')[0]},{value},{part}")
    data = load_interviews(written(tmp_path, "\n".join(lines), "cases.csv"))
    assert cells(data) == CELLS
    assert data.test_index.tolist() == [2]
    for test in ([2], [False, False, True]):
        np.savez(tmp_path / "cases.npz", **ARRAYS, test=test)
        again = load_interviews(tmp_path / "cases.npz")
        assert cells(again) == CELLS
        assert (again.train_index.tolist(), again.test_index.tolist()) == ([0, 1], [2])


ARRAYS = {
    "volunteered": np.array([[1, -1, -1], [1, 0, -1], [-1, -1, -1]], dtype=np.int8),
    "answers": np.array([[-1, 1, 2], [-1, -1, 0], [0, 1, -1]], dtype=np.int8),
    "y": np.array([1, 0, 1]),
    "class_names": np.array(["cold", "flu"]),
    "symptom_names": np.array(["cough", "fever", "rash"]),
}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("y", [1, 0, -1], "y must hold 0 to 1, the positions in class_names"),
        ("y", [1, 0, 2], "y must hold 0 to 1"),
        ("y", [1.0, 0.0, 1.0], "y must hold whole numbers, it holds float64"),
        ("y", [[1, 0, 1]], "must have a row a case"),
        ("class_names", ["flu", "flu"], r"class_names must be a list of names that differ, got \['flu', 'flu'\]"),
        ("class_names", "flu", "class_names must be a list of names that differ, got 'flu'"),
        ("class_names", ["", "flu"], "a disease or a symptom has no name"),
        ("symptom_names", ["cough", "cough", "rash"], "symptom_names must be a list of names that differ"),
        ("symptom_names", "abc", "symptom_names must be a list of names that differ, got 'abc'"),
        ("answers", np.full((3, 3), 0.5), "answers must hold whole numbers"),
        ("answers", np.full((3, 3), 3), "codes must be -1"),
        ("answers", np.zeros((3, 2), dtype=int), "must have a row a case"),
        ("test", [3], "test must hold rows from 0 to 2"),
        ("test", [-1], "test must hold rows from 0 to 2"),
        ("test", ["a"], "test must hold whole numbers"),
        ("test", [True], "test must hold whole numbers, it holds bool"),
        ("test", [[0]], "test must hold rows from 0 to 2"),
        ("y", np.array([1, 0, None]), "y holds Python objects, which are never read"),
    ],
)
def test_arrays_that_cannot_be_are_refused(name, value, message, tmp_path):
    np.savez(tmp_path / "a.npz", **ARRAYS | {name: value})
    with pytest.raises(ValueError, match=rf"a\.npz: .*{message}"):
        load_interviews(tmp_path / "a.npz")


LINES = "case,disease,symptom,told,value"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ([record("flu", {"cough": True}, {"cough": True})], "a.json", "record 1 of all: 'cough' is both volunteered"),
        ([record("flu", {"cough": "maybe"}, {})], "a.json", "'cough' must be true, false or UNK, got 'maybe'"),
        ([{"disease_tag": "flu"}], "a.json", "record 1 of all has no explicit_inform_slots"),
        ([{"goal": {SAID: {}, ASKED: {}}}], "a.json", "has no disease_tag"),
        ([record("flu", ["cough"], {})], "a.json", "explicit_inform_slots must hold values by symptom"),
        ([3], "a.json", "must be an object with disease_tag and goal"),
        ({"train": 3}, "a.json", "must hold a list of records"),
        ([], "a.json", "holds no interview"),
        ("{", "a.json", "is no JSON"),
        ("x", "a.pkl", "interviews are read from .json, .csv and .npz files; write a pickle as JSON first"),
        ("case,disease,symptom,told", "a.csv", "has no column 'value'"),
        ("case,disease,symptom,told,value\n1,flu,a,spoken,1", "a.csv", "line 1: told must be explicit or implicit"),
        (
            "case,disease,symptom,told,value\n1,flu,a,explicit,1\n1,flu,a,implicit,1",
            "a.csv",
            "line 2: 'a' is both volunteered",
        ),
        (
            "case,disease,symptom,told,value\n1,flu,a,explicit,1\n1,cold,b,implicit,1",
            "a.csv",
            "line 2: case '1' has two diseases",
        ),
        ("[" * 100_000, "a.json", "is no JSON that holds interviews"),
        (b"[\xff]", "a.json", "is no JSON that holds interviews: 'utf-8' codec"),
        ('[{"goal": {"exp_sxs": {"a": 1, "a": 0}}}]', "a.json", "'a' stands twice in one object"),
        ([record(None, {}, {})], "a.json", "record 1 of all: disease_tag must be the name of a disease, got None"),
        ([record({}, {}, {})], "a.json", "disease_tag must be the name of a disease, got {}"),
        ([record(" ", {}, {})], "a.json", "record 1 of all: a disease or a symptom has no name"),
        ([record("flu", {"": True}, {})], "a.json", "record 1 of all: a disease or a symptom has no name"),
        ("", "a.csv", "has no column 'case'"),
        (LINES.replace("value", "value,case"), "a.csv", "has two columns 'case'"),
        (f"{LINES}\n1,flu,a,explicit", "a.csv", "line 1 has 4 cells, the header 5"),
        (f"{LINES}\n1,flu,a,explicit,1,1", "a.csv", "line 1 has 6 cells, the header 5"),
        (f"{LINES}\n1,,a,explicit,1", "a.csv", "line 1: a disease or a symptom has no name"),
        (f'{LINES}\n1,flu,"a,explicit,1', "a.csv", "is no CSV in UTF-8: unexpected end of data"),
        (f"{LINES}\n1,flu,{'a' * 200_000},explicit,1", "a.csv", "is no CSV in UTF-8: field larger than"),
        (LINES.encode() + b"\n1,flu,\xff,explicit,1", "a.csv", "is no CSV in UTF-8: 'utf-8' codec"),
        (b"PK", "a.npz", "is no .npz file, or a damaged one"),
        (b"\x93NUMPY\x01\x00", "a.npz", "is no .npz file, or a damaged one"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(content, name, message, tmp_path):
    with pytest.raises(ValueError, match=message) as error:
        load_interviews(written(tmp_path, content, name))
    assert "\n" not in str(error.value)
    assert name in str(error.value)


EVIDENCES = {
    "E_1": {"question_en": "Fever?", "possible-values": [], "default_value": 0, "data_type": "B"},
    "E_2": {
        "question_en": "Where?",
        "possible-values": "['V_0', 'V_1', 'V_2', 'V_3']",
        "default_value": "V_0",
        "data_type": "M",
        "values_en": "{'V_0': 'nowhere', 'V_1': 'head', 'V_2': 'neck', 'V_3': 'toe'}",
    },
    "E_3": {"question_en": "How much?", "possible-values": [0, 1, 2], "default_value": 0, "data_type": "C"},
}
CONDITIONS = {"flu": {"severity": 3}, "croup": {"severity": 1}}
PATIENTS = [
    ["4", "F", "E_1", "croup", "['E_1', 'E_2_@_V_1', 'E_2_@_V_2', 'E_3_@_2']", "[['croup', 0.9], ['flu', 0.1]]"],
    ["80", "M", "E_2", "flu", "['E_2_@_V_0', 'E_3_@_0']", "[['flu', 1.0]]"],
]


def ddxplus(tmp_path, evidences=EVIDENCES, conditions=CONDITIONS, patients=PATIENTS, **kwargs):
    """The set as its publishers write it."""
    import pandas as pd

    (tmp_path / "evidences.json.gz").write_bytes(gzip.compress(json.dumps(evidences).encode()))
    (tmp_path / "conditions.json").write_text(json.dumps(conditions))
    columns = ["AGE", "SEX", "INITIAL_EVIDENCE", "PATHOLOGY", "EVIDENCES", "DIFFERENTIAL_DIAGNOSIS"]
    pd.DataFrame(patients, columns=columns).to_csv(tmp_path / "patients.csv.gz", index=False)
    files = {"evidences": tmp_path / "evidences.json.gz", "conditions": tmp_path / "conditions.json"}
    return load_interviews(tmp_path / "patients.csv.gz", **(files | kwargs))


def test_patients_of_ddxplus_become_columns(tmp_path):
    data = ddxplus(tmp_path)
    assert data.X.astype(object).to_dict("list") == {
        "age": ["1 to 4", "75 and more"],
        "sex": ["F", "M"],
        "Fever? (volunteered)": ["yes", "not mentioned"],
        "Where? (volunteered)": ["not mentioned", "yes"],
        "Fever?": [np.nan, "no"],  # what was said is not asked
        "Where? head": ["yes", "no"],  # nobody has a toe
        "Where? neck": ["yes", "no"],
        "How much?": ["2", "0"],
    }
    assert data.known == {
        "age": None, "sex": None, "Fever? (volunteered)": "Fever?", "Where? (volunteered)": None,
    }  # fmt: skip
    assert data.bundles == (None,) * 5 + ("Where?",) * 2 + (None,)
    assert data.labels.tolist() == ["croup", "flu"]
    assert data.severity == {"flu": 3, "croup": 1}
    assert data.differential.tolist() == [[0.9, 0.1], [0, 1]]
    assert data.mentioned.astype(int).tolist() == [[0, 0, 0, 0, 0, 1, 1, 1], [0] * 8]
    second = data.take([1])
    assert second.differential.tolist() == [[0, 1]]
    assert not second.mentioned.any()
    split = ddxplus(tmp_path, test=tmp_path / "patients.csv.gz")
    assert [split.train_index.tolist(), split.test_index.tolist()] == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evidences": {"E_1": {"question_en": "Fever?"}}}, "must hold an object an entry, each with 'data_type', "),
        ({"conditions": {"flu": {"severity": 3}}}, "'croup' is none of the evidences or conditions"),
        ({"patients": [[*PATIENTS[0][:4], "['E_9']", "[]"]]}, "row 1: 'E_9' is none of the evidences"),
        ({"patients": [[*PATIENTS[0][:4], "E_1", "[]"]]}, "row 1 holds no list: 'E_1'"),
        ({"patients": [[*PATIENTS[0][:4], "5", "[]"]]}, "patients.csv.gz: row 1 holds no list: '5'"),
        ({"patients": [[*PATIENTS[0][:4], "[['E_1']]", "[]"]]}, "row 1: ..E_1.. is none of the evidences"),
        ({"patients": [PATIENTS[1], ["", *PATIENTS[0][1:]]]}, "gz: row 2: age must be in whole years, got ''"),
        ({"patients": [["200", *PATIENTS[0][1:]]]}, "age must be in whole years, got '200'"),
        ({"patients": [[*PATIENTS[0][:5], "[['flu']]"]]}, "row 1: a differential is of diseases, each with a proba"),
        ({"patients": [[*PATIENTS[0][:5], "[['flu', 7]]"]]}, "a differential is of diseases, each with a probability"),
        ({"patients": [[*PATIENTS[0][:5], "[['cold', 0.7]]"]]}, "'cold' is none of the evidences or conditions"),
        ({"patients": []}, "patients.csv.gz holds no patient"),
        ({"conditions": CONDITIONS | {"flu": {"severity": "bad"}}}, "severity of 'flu' must be a whole number"),
        (
            {"evidences": EVIDENCES | {"E_3": EVIDENCES["E_3"] | {"possible-values": 3}}},
            "of 'E_3' possible-values must",
        ),
        ({"evidences": EVIDENCES | {"E_3": EVIDENCES["E_3"] | {"data_type": "D"}}}, "data_type B, C or M"),
        ({"evidences": EVIDENCES | {"E_3": EVIDENCES["E_3"] | {"question_en": "sex"}}}, "2 questions, .* called 'sex'"),
    ],
)
def test_what_is_wrong_with_ddxplus_is_said(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        ddxplus(tmp_path, **changes)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("a.csv.gz", lambda text: text, "Not a gzipped file"),
        ("b.csv.gz", lambda text: gzip.compress(text)[:-9], "Compressed file ended before"),
        ("c.zip", lambda text: text, "File is not a zip file"),
        ("d.csv", lambda text: text.replace(b"croup", b"cr\xf6up"), "can't decode byte 0xf6"),
        ("e.csv", lambda text: text.replace(b"E_3_@_2", b"E_9"), "row 1: 'E_9' is none of the evidences"),
    ],
)
def test_what_is_wrong_with_patients_of_ddxplus_names_their_file(name, change, message, tmp_path):
    ddxplus(tmp_path)
    text = gzip.decompress((tmp_path / "patients.csv.gz").read_bytes())
    (tmp_path / name).write_bytes(change(text))
    with pytest.raises(ValueError, match=rf"{name}.*{message}"):
        ddxplus(tmp_path, test=tmp_path / name)


def test_files_of_ddxplus_come_together(tmp_path):
    with pytest.raises(ValueError, match="evidences and conditions: DDXPlus has a file of each"):
        load_interviews(tmp_path, evidences=tmp_path)


def test_a_file_that_is_not_there(tmp_path):
    for name in ("a.json", "a.csv", "a.npz"):
        with pytest.raises(FileNotFoundError, match=f"there is no file .*{name}"):
            load_interviews(tmp_path / name)
        (tmp_path / name).mkdir()
        with pytest.raises(IsADirectoryError, match=f"{name} is a folder"):
            load_interviews(tmp_path / name)


def test_a_mark_of_unicode_is_no_part_of_a_file(tmp_path):
    assert cells(load_interviews(written(tmp_path, b"\xef\xbb\xbf" + json.dumps(RECORDS).encode()))) == CELLS


@pytest.mark.slow_cells("dxy-shape0-5-104")
@pytest.mark.parametrize(
    ("name", "shape", "n_classes", "n_test"),
    [
        *(("dxy", (527, 80), 5, 104), ("mz4", (1733, 326), 4, 345)),
        pytest.param("symcat", (30_000, 530), 90, 6000, marks=pytest.mark.slow),
    ],
)
def test_published_sets(name, shape, n_classes, n_test, data_dir):
    path = data_dir / "interviews" / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"no {path}")
    data = load_interviews(path)
    assert (data.X.shape, data.n_classes, data.test_index.size) == (shape, n_classes, n_test)
    assert not (data.X[list(data.known)] == "not mentioned").all().any()
    if name != "dxy":
        return
    solver = Adaptive([ClassInformation()], certificate_paths=0, max_rounds=0)
    clf = SequentialClassifier(
        solver=solver, order="adaptive", feature_costs=0.003, known=data.known, max_features=10
    ).fit(data.X.iloc[data.train_index], data.y[data.train_index])
    X, y = data.X.iloc[data.test_index], data.y[data.test_index]
    record = clf.acquire(X)
    assert (record.outcome >= 0).sum() == (record.order >= 0).sum()  # nothing is asked that was volunteered
    assert record.n_features.mean() < 10
    assert (record.decision == y).mean() > (clf.acquire(X, budget=0).decision == y).mean() + 0.05
