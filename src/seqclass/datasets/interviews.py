"""Interviews as data: what a patient says without being asked, and what they would answer to questions."""

from __future__ import annotations

import ast
import csv
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import IntArray
from seqclass._utils.files import read_json
from seqclass._utils.marks import mark_prefix
from seqclass._utils.text import join_names, sentence, short_repr
from seqclass.datasets._tables import read_npz, require_file
from seqclass.datasets.dataset import Dataset

#: What an answer may be, by its code; and what was volunteered, where silence is one more.
ANSWERS = ("no", "yes", "not sure")
SILENT = "not mentioned"
#: How a symptom's value is written in published files.
_VALUES = {
    **dict.fromkeys(("false", "no", "n", "0", "0.0", "-1"), 0),
    **dict.fromkeys(("true", "yes", "y", "1", "1.0"), 1),
    **dict.fromkeys(("unk", "unknown", "not sure", "unsure", "2", "2.0"), 2),
}
#: What records call the disease, what was said unasked, and what came out on asking.
_KEYS = (
    ("disease_tag", "disease", "label"),
    ("explicit_inform_slots", "exp_sxs", "explicit"),
    ("implicit_inform_slots", "imp_sxs", "implicit"),
)
#: Of a table with a line a symptom.
_COLUMNS = ["case", "disease", "symptom", "told", "value"]
#: Ends the name of a volunteered column.
_SAID = " (volunteered)"


@dataclass(frozen=True, eq=False, repr=False)
class Interviews(Dataset):
    """Interviews as a data set: columns of what was volunteered, known at the start, and of answers to ask for.

    ``X`` is a data frame of categories. A volunteered column is "not mentioned", "no", "yes" or "not sure", as it is
    also evidence that nothing was said. An answer is "no", "yes" or "not sure"; a question about a symptom that the
    record does not mention gets "not sure". If a symptom was volunteered its answer is missing, and it is not asked
    for.

    Attributes
    ----------
    known : dict of str to (str or None)
        The volunteered columns, each with the answer that it makes needless; for ``SequentialClassifier(known=...)``.
    mentioned : ndarray of bool of shape (n_samples, n_features)
        Which cells are answers "no" and "yes" that the record holds.
    severity : dict of str to int
        How severe each disease is, 1 the worst, where the source says so (DDXPlus); else empty.
    differential : ndarray of shape (n_samples, n_classes) or None
        What the source holds to be the probability of each disease (DDXPlus), if it does.
    name, X, y, class_names, bundles, test_index and others
        See `Dataset`.

    Examples
    --------
    >>> import json, os, tempfile
    >>> said, asked = "explicit_inform_slots", "implicit_inform_slots"
    >>> records = [{"disease_tag": "flu", "goal": {said: {"cough": True}, asked: {"fever": True}}},
    ...            {"disease_tag": "cold", "goal": {said: {"fever": False}, asked: {"cough": True}}}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "cases.json")
    ...     with open(path, "w") as file:
    ...         json.dump(records, file)
    ...     data = load_interviews(path)
    >>> data.known
    {'cough (volunteered)': 'cough', 'fever (volunteered)': 'fever'}
    >>> data.X.astype(object).to_numpy().tolist()
    [['yes', 'not mentioned', nan, 'yes'], ['not mentioned', 'no', 'yes', nan]]
    """

    known: dict[str, str | None] = field(default_factory=dict)
    mentioned: Any = None
    severity: dict[str, int] = field(default_factory=dict)
    differential: Any = None

    def take(self, rows: Any) -> Dataset:
        """Some of the rows; the split of the source is dropped."""
        some = np.asarray(rows)
        differential = None if self.differential is None else self.differential[some]
        return replace(super().take(rows), mentioned=self.mentioned[some], differential=differential)  # type: ignore[call-arg]


class _Record(NamedTuple):
    """One interview: its part of the source's split, and values by symptom."""

    part: str
    disease: str
    volunteered: dict[str, int]
    answers: dict[str, int]


def load_interviews(
    path: Any, test: Any = None, *, name: str | None = None, evidences: Any = None, conditions: Any = None
) -> Interviews:
    """Read symptom dialogues from a file.

    Parameters
    ----------
    path : path
        JSON as published for MuZhi and Dxy: a list of records, or lists by part ("train", "test"). Each record has
        ``disease_tag`` and ``goal``; in the goal, ``explicit_inform_slots`` hold what the patient said without being
        asked and ``implicit_inform_slots`` what came out on asking, true, false or "UNK" by symptom. The slots may be
        in the record itself, as in SymCat's files, or be called ``exp_sxs``, ``imp_sxs`` and ``label``, with 0, 1 and
        2. Or CSV with one line per symptom: columns ``case, disease, symptom, told, value`` and perhaps ``part``, where
        ``told`` is ``explicit`` or ``implicit``. Or .npz with arrays ``volunteered`` and ``answers`` of shape (n,
        n_symptoms), where -1 is not mentioned, 0 no, 1 yes and 2 not sure, and ``y``, ``class_names``,
        ``symptom_names`` and perhaps ``test``, the test rows. Or the patients of DDXPlus [3]_, CSV that may be
        compressed (.gz, .zip), with ``evidences`` and ``conditions``: see the notes.
    test : path, optional
        A file with the publishers' test cases, in the same form; they come after the others.
    name : str, optional
        Name of the set; by default that of the file.
    evidences, conditions : path, optional
        The two JSON files of DDXPlus, perhaps .gz: what can be asked, and the diseases with their severity.

    Returns
    -------
    Interviews
        With the publishers' split, if there is one, as ``train_index`` and ``test_index``.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If anything in it is wrong: the file is damaged, a record lacks a part, a value or a class is not one of these,
        two classes or symptoms have the same name, or a symptom is both volunteered and asked for. The message names
        the record, counted from 1.

    Notes
    -----
    Of DDXPlus age (in the eight bands of the paper), sex and the first complaint are known at the start; a complaint
    is a volunteered column and its question needless. Columns are called by their questions. A question with several
    marks ("Characterize your pain:") is a column a mark that somebody in the file has, and one of ``bundles``; its
    default value ("nowhere") is no mark.

    References
    ----------
    .. [1] Z. Wei et al., "Task-oriented dialogue system for automatic diagnosis", ACL 2018: MuZhi.
    .. [2] L. Xu et al., "End-to-end knowledge-routed relational dialogue system for automatic diagnosis", AAAI 2019:
       Dxy.
    .. [3] A. Fansi Tchango et al., "DDXPlus: a new dataset for automatic medical diagnosis", NeurIPS 2022.

    Examples
    --------
    >>> import os, tempfile
    >>> lines = ["case,disease,symptom,told,value", "1,flu,cough,explicit,yes", "1,flu,fever,implicit,yes"]
    >>> lines += ["2,cold,cough,implicit,no"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "cases.csv")
    ...     with open(path, "w") as file:
    ...         for line in lines:
    ...             print(line, file=file)
    ...     data = load_interviews(path)
    >>> data, list(data.X.columns)
    (Dataset('cases', 2 x 3, 2 classes), ['cough (volunteered)', 'cough', 'fever'])
    """
    if (evidences is None) != (conditions is None):
        raise ValueError("evidences and conditions: DDXPlus has a file of each; give both of them, or none.")
    if evidences is not None:
        return _ddxplus(path, test, evidences, conditions, name or Path(path).name.partition(".")[0])
    records = _read(Path(path))
    if test is not None:
        if any(record.part == "test" for record in records):
            raise ValueError(f"test: {path} has test cases of its own; leave test out.")
        records += [record._replace(part="test") for record in _read(Path(test))]
    if not records:
        raise ValueError(f"{path} holds no interview.")
    return _as_data(name or Path(path).stem, records, str(path))


def _read(path: Path) -> list[_Record]:
    """Records, each with its part of the source's split."""
    require_file(path)
    ending = path.suffix.lower()
    if ending == ".npz":
        return _of_arrays(path)
    if ending == ".csv":
        return _of_lines(path)
    if ending != ".json":
        raise ValueError(f"{path}: interviews are read from .json, .csv and .npz files; write a pickle as JSON first.")
    try:
        content = read_json(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON that holds interviews: {sentence(error)}") from None
    parts = content if isinstance(content, dict) else {"all": content}
    if not all(isinstance(part, list) for part in parts.values()):
        raise ValueError(f"{path} must hold a list of records, or such lists by part, as train and test.")
    return [
        _record(f"{path}: record {n} of {part}", str(part), one)
        for part, some in parts.items()
        for n, one in enumerate(some, 1)
    ]


def _record(where: str, part: str, record: Any) -> _Record:
    """One record of JSON."""
    if not isinstance(record, Mapping):
        raise ValueError(f"{where} must be an object with disease_tag and goal, got {short_repr(record)}.")
    inner = record.get("goal", {})
    fields = {**record, **(inner if isinstance(inner, Mapping) else {})}
    parts = []
    for names in _KEYS:
        present = [key for key in names if key in fields]
        if not present:
            raise ValueError(f"{where} has no {names[0]}.")
        parts.append(fields[present[0]])
    disease, *slots = parts
    if isinstance(disease, bool) or not isinstance(disease, (str, int)):
        raise ValueError(f"{where}: {_KEYS[0][0]} must be the name of a disease, got {short_repr(disease)}.")
    for names, values in zip(_KEYS[1:], slots):
        if not isinstance(values, Mapping):
            raise ValueError(f"{where}: {names[0]} must hold values by symptom, got {short_repr(values)}.")
    volunteered, asked = ({str(s): _value(where, str(s), v) for s, v in values.items()} for values in slots)
    return _check_record(where, _Record(part, str(disease), volunteered, asked))


def _check_record(where: str, record: _Record) -> _Record:
    """Refuse a disease or a symptom without a name, and a symptom that is told of twice."""
    if not (record.disease or "").strip() or not all(s.strip() for s in (*record.volunteered, *record.answers)):
        raise ValueError(f"{where}: a disease or a symptom has no name.")
    twice = [symptom for symptom in record.volunteered if symptom in record.answers]
    if twice:
        raise ValueError(
            f"{where}: {short_repr(twice[0])} is both volunteered and asked for; leave out the answer, which is known."
        )
    return record


def _value(where: str, symptom: str, value: Any) -> int:
    code = _VALUES.get(str(value).strip().lower())
    if code is None:
        raise ValueError(f"{where}: {short_repr(symptom)} must be true, false or UNK, got {short_repr(value)}.")
    return code


def _of_lines(path: Path) -> list[_Record]:
    """Records of a table with a line a symptom."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *lines = list(csv.reader(file, strict=True)) or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is no CSV in UTF-8: {sentence(error)}") from error
    if wrong := [column for column in _COLUMNS if header.count(column) != 1]:
        how = "two columns" if wrong[0] in header else "no column"
        raise ValueError(f"{path} has {how} {short_repr(wrong[0])}; it needs {join_names(_COLUMNS)}.")
    records: dict[tuple[str, str], _Record] = {}
    for number, cells in enumerate(filter(None, lines), 1):
        where, line = f"{path}: line {number}", dict(zip(header, cells))
        if len(cells) != len(header):
            raise ValueError(f"{where} has {len(cells)} cells, the header {len(header)}.")
        if line["told"] not in ("explicit", "implicit"):
            raise ValueError(f"{where}: told must be explicit or implicit, got {short_repr(line['told'])}.")
        part = line.get("part") or "all"
        record = records.setdefault((part, line["case"]), _Record(part, line["disease"], {}, {}))
        if record.disease != line["disease"]:
            raise ValueError(f"{where}: case {short_repr(line['case'])} has two diseases.")
        slots = record.volunteered if line["told"] == "explicit" else record.answers
        if line["symptom"] in slots:
            raise ValueError(f"{where}: {short_repr(line['symptom'])} stands twice in case {short_repr(line['case'])}.")
        slots[line["symptom"]] = _value(where, line["symptom"], line["value"])
        _check_record(where, record)
    return list(records.values())


def _of_arrays(path: Path) -> list[_Record]:
    """Records of matrices of codes."""
    arrays = read_npz(path)
    wanted = ["volunteered", "answers", "y", "class_names", "symptom_names"]
    if lacking := [key for key in wanted if key not in arrays]:
        raise ValueError(f"{path} has no array {short_repr(lacking[0])}; it needs {join_names(wanted)}.")
    classes, names = (_names(path, name, arrays[name]) for name in wanted[3:])
    volunteered, asked, labels = (_check_whole(path, name, arrays[name]) for name in wanted[:3])
    shape = (labels.size, len(names))
    if labels.ndim != 1 or volunteered.shape != shape or asked.shape != shape:
        raise ValueError(f"{path}: volunteered and answers must have a row a case and a column a symptom, {shape}.")
    if not all(-1 <= codes.min(initial=0) <= codes.max(initial=0) <= 2 for codes in (volunteered, asked)):
        raise ValueError(f"{path}: codes must be -1 (not mentioned), 0 (no), 1 (yes) or 2 (not sure).")
    if labels.size and not 0 <= labels.min() <= labels.max() < len(classes):
        raise ValueError(f"{path}: y must hold 0 to {len(classes) - 1}, the positions in class_names.")
    part = np.full(shape[0], "train" if "test" in arrays else "all", dtype=object)
    test = arrays.get("test", np.empty(0, dtype=np.intp))
    rows = np.flatnonzero(test) if test.dtype == bool and test.shape == part.shape else _check_whole(path, "test", test)
    if rows.ndim != 1 or (rows.size and not 0 <= rows.min() <= rows.max() < part.size):
        raise ValueError(f"{path}: test must hold rows from 0 to {part.size - 1}.")
    part[rows] = "test"
    return [
        _check_record(f"{path}: record {n}", _Record(own, classes[label], *map(_slots(names), pair)))
        for n, (own, label, *pair) in enumerate(zip(part.tolist(), labels.tolist(), volunteered, asked), 1)
    ]


def _names(path: Path, name: str, array: npt.NDArray[Any]) -> list[str]:
    names = [str(one) for one in array.ravel().tolist()]
    if array.ndim != 1 or len(set(names)) < len(names):
        raise ValueError(f"{path}: {name} must be a list of names that differ, got {short_repr(array.tolist())}.")
    return names


def _check_whole(path: Path, name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.dtype.kind not in "iu":
        raise ValueError(f"{path}: {name} must hold whole numbers, it holds {array.dtype}.")
    return array


def _slots(names: list[str]) -> Any:
    return lambda codes: {names[j]: int(codes[j]) for j in np.flatnonzero(codes >= 0).tolist()}


def _as_data(name: str, records: list[_Record], source: str) -> Interviews:
    """Columns of categories."""
    import pandas as pd

    classes = sorted({record.disease for record in records})
    symptoms = sorted({symptom for record in records for symptom in record.volunteered})
    asked = sorted({symptom for record in records for symptom in record.answers})
    if clash := [symptom for symptom in asked if symptom.endswith(_SAID)]:
        raise ValueError(f"{source}: rename the symptom {short_repr(clash[0])}, which looks like a volunteered one.")
    volunteered = _codes(symptoms, (record.volunteered for record in records), len(records))
    answers = _codes(asked, (record.answers for record in records), len(records))
    mentioned = (answers == 0) | (answers == 1)
    codes: IntArray = np.full(answers.shape, ANSWERS.index("not sure"), dtype=np.int8)
    codes[answers >= 0] = answers[answers >= 0]
    place = {symptom: j for j, symptom in enumerate(symptoms)}
    for j, symptom in enumerate(asked):
        if symptom in place:
            codes[volunteered[:, place[symptom]] >= 0, j] = -1
    of: Any = pd.Categorical.from_codes
    columns = {s + _SAID: of(volunteered[:, j] + 1, categories=[SILENT, *ANSWERS]) for j, s in enumerate(symptoms)}
    columns |= {s: of(codes[:, j], categories=list(ANSWERS)) for j, s in enumerate(asked)}
    parts = np.array([record.part for record in records])
    test, held = np.flatnonzero(parts == "test"), np.flatnonzero(np.isin(parts, ("valid", "dev")))
    rest = np.setdiff1d(np.arange(len(records)), np.append(test, held))
    have = set(asked)
    return Interviews(
        name,
        pd.DataFrame(columns),
        np.array([classes.index(record.disease) for record in records], dtype=np.int64),
        tuple(classes),
        feature_names=tuple(columns),
        train_index=rest if test.size else None,
        valid_index=held if held.size else None,
        test_index=test if test.size else None,
        description="Symptoms that patients volunteered, and what they answer when asked.",
        source=source,
        known={s + _SAID: s if s in have else None for s in symptoms},
        mentioned=np.column_stack([np.zeros(volunteered.shape, dtype=bool), mentioned]),
    )


class _Evidence(NamedTuple):
    """What can be asked of a patient of DDXPlus."""

    text: str
    several: bool
    #: Names of the values by their codes, that of the absence first; "no" and "yes" where there are none.
    values: dict[str, str]


def _ddxplus(path: Any, test: Any, evidences: Any, conditions: Any, name: str) -> Interviews:
    """Patients of DDXPlus as data."""
    import pandas as pd

    of: Any = pd.Categorical.from_codes
    severity = {str(k): v["severity"] for k, v in _object(conditions, "conditions").items()}
    if wrong := [disease for disease, one in severity.items() if type(one) is not int]:
        raise ValueError(f"conditions: {conditions}: severity of {short_repr(wrong[0])} must be a whole number.")
    asked = _evidences(evidences)
    columns, place = _columns(evidences, asked)
    patients = [_patients(one, asked, severity, place) for one in (path, test) if one is not None]
    table = pd.concat(patients, ignore_index=True)
    first, n = table["initial_evidence"].to_numpy(), len(table)
    columns, codes = _answers(asked, columns, table["evidences"].tolist())
    mentioned, known, needless = codes > 0, dict[str, Any](), dict[str, str | None]()
    for code in (code for code in asked if (first == code).any()):
        column, own = asked[code].text + _SAID, [j for j, one in enumerate(columns) if one[0] == code]
        known[column] = of((first == code).astype(int), categories=[SILENT, "yes"])
        needless[column] = asked[code].text if code in asked[code].values else None  # only of these "yes" says it all
        if needless[column]:
            codes[np.ix_(first == code, own)], mentioned[np.ix_(first == code, own)] = -1, False
    X: dict[str, Any] = {"age": _bands(table["age"]), "sex": pd.Categorical(table["sex"])} | known
    start = len(X)
    X |= {one[1]: of(codes[:, j], categories=one[2]) for j, one in enumerate(columns)}
    label = [asked[code].text for code, *_ in columns]
    differential = pd.DataFrame(table["differential"].tolist(), dtype=np.float64)
    classes, rows = sorted(severity), np.arange(n)
    return Interviews(
        name,
        pd.DataFrame(X),
        np.array([classes.index(disease) for disease in table["pathology"]], dtype=np.int64),
        tuple(classes),
        feature_names=tuple(X),
        bundles=(*[None] * start, *[one if label.count(one) > 1 else None for one in label]),
        train_index=None if test is None else rows[: len(patients[0])],
        test_index=None if test is None else rows[len(patients[0]) :],
        description="Patients of DDXPlus: age, sex, the first complaint, and what they answer when asked.",
        source=str(path),
        known={"age": None, "sex": None, **needless},
        mentioned=np.column_stack([np.zeros((n, start), dtype=bool), mentioned]),
        severity=severity,
        differential=differential.reindex(columns=classes).fillna(0.0).to_numpy(),
    )


#: Columns of what can be asked: code, name and categories; and of each value of patients its column and outcome.
_Columns = list[tuple[str, str, list[str]]]
_Places = dict[str, tuple[int, int]]


def _columns(path: Any, asked: dict[str, _Evidence]) -> tuple[_Columns, _Places]:
    """A column a question, or a mark of several; what is absent has none."""
    columns, place = _Columns(), _Places()
    for code, one in asked.items():
        absent, *others = one.values
        for number, value in enumerate(others, 1):
            place[code if value == code else f"{code}_@_{value}"] = (len(columns), 1 if one.several else number)
            if one.several:
                columns.append((code, mark_prefix(one.text) + one.values[value], ["no", "yes"]))
        place[f"{code}_@_{absent}"] = (-1, 0)
        if not one.several:
            columns.append((code, one.text, list(one.values.values())))
    name, times = Counter(["age", "sex", *(name for _, name, _ in columns)]).most_common(1)[0]
    if times > 1:
        raise ValueError(f"evidences: {path}: {times} questions, or marks of one, are called {short_repr(name)}.")
    return columns, place


def _answers(
    asked: dict[str, _Evidence], columns: _Columns, rows: list[list[tuple[int, int]]]
) -> tuple[_Columns, IntArray]:
    """Columns but for marks that nobody has, and the outcomes by patient."""
    codes: IntArray = np.zeros((len(rows), len(columns) + 1), dtype=np.int8)  # the last is for what is absent
    for i, shown in enumerate(rows):
        for j, number in shown:
            codes[i, j] = number
    kept = [j for j, (code, *_) in enumerate(columns) if not asked[code].several or codes[:, j].any()]
    return [columns[j] for j in kept], codes[:, kept]


def _bands(age: Any) -> Any:
    """Ages in the bands of DDXPlus's paper."""
    import pandas as pd

    first = (0, 1, 5, 15, 30, 45, 60, 75, 200)  # years
    names = ["0", *(f"{a} to {b - 1}" for a, b in pairwise(first[1:-1])), f"{first[-2]} and more"]
    return pd.cut(age, first, right=False, labels=names)


def _evidences(path: Any) -> dict[str, _Evidence]:
    """What can be asked, by code."""
    about = _object(path, "evidences")
    texts = Counter(str(one["question_en"]) for one in about.values())
    asked = {}
    for code, one in about.items():
        text = str(one["question_en"]) if texts[str(one["question_en"])] == 1 else f"{one['question_en']} ({code})"
        try:
            values, default = [str(value) for value in _literal(one["possible-values"])], str(one["default_value"])
            meaning = {
                k: v["en"] if isinstance(v, dict) else v
                for k, v in _literal(one.get("values_en") or one.get("value_meaning") or {}).items()
            }
            {"B": 0, "C": 1, "M": 2}[one["data_type"]]
        except (ValueError, SyntaxError, TypeError, AttributeError, KeyError) as error:
            raise ValueError(
                f"evidences: {path}: of {short_repr(code)} possible-values must be a list, value_meaning an object "
                "with a text or its 'en' for each of them, and data_type B, C or M."
            ) from error
        if one["data_type"] == "B":
            named = {"": "no", code: "yes"}
        else:
            named = {value: str(meaning.get(value, value)) for value in dict.fromkeys([default, *values])}
        asked[code] = _Evidence(text, one["data_type"] == "M", named)
    return asked


def _object(path: Any, what: str) -> dict[str, Any]:
    """An object of JSON, whose file may be compressed."""
    require_file(Path(path))
    try:
        content = Path(path).read_bytes()
        read = read_json(gzip.decompress(content) if Path(path).suffix == ".gz" else content)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{what}: {path} is no JSON: {sentence(error)}") from None
    keys = {"question_en", "possible-values", "default_value", "data_type"} if what == "evidences" else {"severity"}
    if not isinstance(read, dict) or not all(isinstance(one, dict) and keys <= set(one) for one in read.values()):
        raise ValueError(f"{what}: {path} must hold an object an entry, each with {join_names(sorted(keys))}.")
    return read


def _patients(path: Any, asked: Mapping[str, Any], severity: Mapping[str, int], place: Mapping[str, Any]) -> Any:
    """The table of patients, its columns in small letters."""
    import pandas as pd

    require_file(Path(path))
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, OSError, EOFError, zlib.error, BadZipFile) as error:
        raise ValueError(f"{path} is no table of patients, or a damaged one: {sentence(error)}") from error
    table.columns = [str(column).lower() for column in table.columns]
    table = table.rename(columns={"differential_diagnosis": "differential"})
    wanted = ["age", "sex", "initial_evidence", "pathology", "evidences", "differential"]
    if wrong := [column for column in wanted if [*table.columns].count(column) != 1]:
        how = "two columns" if wrong[0] in table else "no column"
        raise ValueError(f"{path} has {how} {short_repr(wrong[0])}; patients of DDXPlus have {join_names(wanted)}.")
    if not len(table):
        raise ValueError(f"{path} holds no patient.")
    rows = [
        _patient(f"{path}: row {i}", asked, severity, place, *cells)
        for i, cells in enumerate(table[wanted].to_numpy().tolist(), 1)
    ]
    return pd.DataFrame(rows, columns=wanted)


def _patient(
    where: str, asked: Mapping[str, Any], severity: Mapping[str, int], place: Mapping[str, Any], *cells: str
) -> tuple[Any, ...]:
    """The cells of a patient, read: evidences as columns and outcomes, the differential by disease."""
    age, sex, first, disease, evidences, differential = cells
    if not (age.isdecimal() and int(age) < 200):  # where the last band ends
        raise ValueError(f"{where}: age must be in whole years, got {short_repr(age)}.")
    shown, possible = _read_list(where, evidences), _read_list(where, differential)
    for one in possible:
        if not (
            isinstance(one, (list, tuple)) and len(one) == 2 and isinstance(one[1], (int, float)) and 0 <= one[1] <= 1
        ):
            raise ValueError(f"{where}: a differential is of diseases, each with a probability, got {short_repr(one)}.")
    for values, known in (((first,), asked), ((disease, *(one[0] for one in possible)), severity), (shown, place)):
        if wrong := [value for value in values if not isinstance(value, str) or value not in known]:
            raise ValueError(f"{where}: {short_repr(wrong[0])} is none of the evidences or conditions.")
    return int(age), sex, first, disease, [place[value] for value in shown], dict(possible)


def _literal(value: Any) -> Any:
    """A list or an object, also where a text holds it as JSON or as Python writes it."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return ast.literal_eval(value)


def _read_list(where: str, cell: str) -> list[Any]:
    try:
        read = _literal(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        read = None
    if not isinstance(read, list):
        raise ValueError(f"{where} holds no list: {short_repr(cell)}.")
    return read


def _codes(symptoms: list[str], records: Iterable[dict[str, int]], n: int) -> IntArray:
    """Codes of symptoms in each record, -1 where it does not mention one."""
    place, codes = {symptom: j for j, symptom in enumerate(symptoms)}, np.full((n, len(symptoms)), -1, dtype=np.int8)
    for i, slots in enumerate(records):
        for symptom, value in slots.items():
            codes[i, place[symptom]] = value
    return codes
