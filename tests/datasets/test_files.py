"""Data sets from files: what is read, and what is refused with which words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.tree import DecisionTreeClassifier

from seqclass import SequentialClassifier
from seqclass.datasets.files import load_file
from seqclass.exams import ItemParameters

CSV = "size,colour,class\n1.5,red,b\n,blue,a\n3,?,b\n"
PRICES = "feature,cost,discounted,group\ncolour,2,0.5,eyes\nsize,1.5,,\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "toy.csv", CSV)


def test_a_table(table: Path) -> None:
    data = load_file(table)
    assert data.name == "toy"
    assert data.source == "toy.csv"
    assert data.class_names == ("a", "b")
    assert data.y.tolist() == [1, 0, 1]
    assert data.feature_names == ("size", "colour")
    assert data.X["size"].isna().tolist() == [False, True, False]
    assert data.X["colour"].isna().tolist() == [False, False, True]
    assert data.feature_costs is None


@pytest.mark.parametrize("ending", ["csv.gz", "tsv", "parquet"])
def test_other_tables(table: Path, ending: str) -> None:
    frame, path = pd.read_csv(table, na_values="?"), table.with_name(f"other.{ending}")
    if ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    data = load_file(path, name="mine")
    assert data.name == "mine"
    assert data.y.tolist() == [1, 0, 1]
    assert data.X["size"].tolist()[0] == 1.5


def test_numbers_are_those_that_stand_there(tmp_path: Path) -> None:
    """Also with the pandas that takes some for the float beside; as texts of a data frame likewise."""
    numbers = np.random.default_rng(0).random(200)
    texts = list(map(repr, numbers.tolist()))
    rows = "".join(f"{text},{'ab'[i % 2]}\n" for i, text in enumerate(texts))
    assert load_file(write(tmp_path / "t.csv", f"x,y\n{rows}")).X["x"].tolist() == numbers.tolist()
    items = "".join(f"item{i},1,{text}\n" for i, text in enumerate(texts))
    bank = ItemParameters.from_table(write(tmp_path / "bank.csv", f"item,a1,d\n{items}"))
    assert bank.to_table()["d"].tolist() == numbers.tolist()
    encoder = SequentialClassifier().fit(pd.DataFrame({"x": numbers}), numbers > 0.5).encoder_
    for cells in (texts, pd.Categorical(texts), [*texts[:100], *numbers[100:].tolist()]):
        assert encoder.encode(pd.DataFrame({"x": cells}))["x"].tolist() == numbers.tolist()


def test_the_name_of_the_target(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a,Class,b\n1,x,2\n2,y,2\n")
    assert load_file(path).feature_names == ("a", "b")
    with pytest.raises(ValueError, match="single class"):
        load_file(path, target="b")
    with pytest.raises(ValueError, match=r"t\.csv has no column 'clas'; did you mean 'Class'\?"):
        load_file(path, target="clas")
    with pytest.raises(ValueError, match="no column is known to hold the labels; name it as target"):
        load_file(write(tmp_path / "u.csv", "a,b\n1,x\n2,y\n"))
    with pytest.raises(ValueError, match="both 'y' and 'label' could hold"):
        load_file(write(tmp_path / "v.csv", "y,label\n1,x\n2,y\n"))


def test_columns_are_dropped(table: Path) -> None:
    assert load_file(table, drop=["size"]).feature_names == ("colour",)
    with pytest.raises(ValueError, match="is the target"):
        load_file(table, drop=["class"])
    table.with_name(f"{table.stem}.costs.csv").write_text("feature,cost\nsize,2\ncolour,3\nclass,1\n")
    costs = load_file(table, "class", drop=["size"]).feature_costs
    assert np.array_equal(costs, [3.0])  # prices of what is left out count for nothing
    with pytest.raises(ValueError, match="has no feature"):
        load_file(table, drop=["size", "colour"])


def test_labels_that_are_numbers_sort_by_size(tmp_path: Path) -> None:
    rows = "".join(f"{i},{label}\n" for i, label in enumerate([10, 9, 10, 2]))
    assert load_file(write(tmp_path / "t.csv", "a,y\n" + rows)).class_names == ("2", "9", "10")


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is empty"),
        ("a,y\n", "has a header but no rows"),
        ("a,y\n1,0\n2,\n", r"column 'y' has a missing label in row 2"),
        ("a,y\n1,0\n2,1,3,4\n", r"more cells than the header|line 3"),
        ("a,a,y\n1,1,0\n", "2 columns named 'a'; give each its own name.$"),
        ("a,y,y\n1,1,0\n", "2 columns named 'y'"),
        ("\n\n", "is empty"),
        ("a;b;y\n1,5;2;x\n", "the columns are parted by ';': read it with sep=';' .* or save the file with commas"),
        ("a\tb\ty\n1\t2\tx\n", r"the columns are parted by '\\t'"),
        ("1,1,0\n2,3,1\n", "2 columns named '1'; .* If the first line holds values already, put one"),
        ("5.1,3,yes\n4.9,2,no\n", "no column is known to hold the labels; .* If the first line holds values already"),
        ("a,y\n1,x\n2,x\n", "column 'y' holds a single class, 'x'"),
        ('a,y\n1,"x\n2,z\n', r"a quotation mark \(\"\) is opened and never closed"),
        ("a,b,y\n1,2,0\n-inf,1,1\n", "column 'a' holds infinity in row 2"),
        ("a,y\n" + "".join(f"1,{i / 7}\n" for i in range(60)), "quantity, not a class"),
    ],
)
def test_tables_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "bad.csv", text)
    with pytest.raises(ValueError, match=message) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffclass,u,v\nx,1,2\nz,3,4\n",  # with a mark of the byte order, and the labels first
        "u,v,class\r\n1,2,x\r\n3,4,z\r\n",
        '"u","v","class"\n"1","2","x"\n"3","4","z"\n',
        "\nu,v,class\n\n1,2,x\n3,4,z\n\n",
        "u,v,class\n1,2,x,\n3,4,z,\n",
        ",u,v,class\n0,1,2,x\n1,3,4,z\n",
    ],
)
def test_forms_of_one_table(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    for target in (None, "class"):
        data = load_file(path, target=target)
        assert data.feature_names == ("u", "v")
        assert data.X.to_numpy().tolist() == [[1, 2], [3, 4]]
        assert data.labels.tolist() == ["x", "z"]


def test_line_breaks_within_quotes(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'u,"v\n(mm)",note,class\n1,2,"two\nlines",x\n3,4,one,z\n')
    data = load_file(path)
    assert data.feature_names == ("u", "v\n(mm)", "note")
    assert data.X["note"].tolist() == ["two\nlines", "one"]
    assert data.labels.tolist() == ["x", "z"]


def test_a_mark_of_the_byte_order_before_the_costs(table: Path) -> None:
    for name, text in (("c.csv", "feature,cost\nsize,1\ncolour,2\n"), ("c.json", '{"feature_costs": [1, 2]}')):
        costs = table.with_name(name)
        costs.write_text(text, encoding="utf-8-sig")
        assert load_file(table, costs=costs).costs().feature_costs.tolist() == [1, 2]


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_file(tmp_path / "absent.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load_file(tmp_path)
    with pytest.raises(ValueError, match="its name must end in"):
        load_file(write(tmp_path / "t.xlsx", "a"))


def test_prices_beside_the_data(table: Path) -> None:
    write(table.with_name("toy.costs.csv"), PRICES)
    data = load_file(table)
    assert data.feature_costs is not None
    assert data.feature_costs.tolist() == [1.5, 2.0]
    assert data.groups == (None, "eyes")
    assert data.costs().discounted_costs.tolist() == [1.5, 0.5]


def test_prices_of_another_file_and_an_unknown_price(table: Path) -> None:
    costs = write(table.with_name("mine.csv"), "feature,cost\nsize,\ncolour,3\n")
    data = load_file(table, costs=costs)
    assert data.feature_costs is not None
    assert np.isnan(data.feature_costs[0])
    with pytest.raises(FileNotFoundError, match=r"no file .*absent\.csv"):
        load_file(table, costs=table.with_name("absent.csv"))


def test_prices_as_json(table: Path) -> None:
    content: dict[str, Any] = {
        "feature_costs": {"size": 1, "colour": None},
        "discounted_costs": {"size": 0.5},
        "groups": {"size": "ruler"},
        "decision_costs": [[0, 1, 0.2], [5, 0, 0.2]],
        "decisions": ["refer"],
    }
    write(table.with_name("toy.costs.json"), json.dumps(content))
    data = load_file(table)
    assert data.decisions == ("refer",)
    assert data.groups == ("ruler", None)
    found = data.costs(missing_cost=3)
    assert found.feature_costs.tolist() == [1, 3]
    assert found.discounted_costs.tolist() == [0.5, 3]
    assert found.decisions == [2]
    write(table.with_name("toy.costs.json"), '{"feature_costs": [2, 3]}')
    assert load_file(table).costs().feature_costs.tolist() == [2, 3]
    write(table.with_name("toy.costs.json"), '{"feature_costs": 2}')
    assert load_file(table).costs().feature_costs.tolist() == [2, 2]
    write(table.with_name("toy.costs.csv"), PRICES)
    with pytest.raises(ValueError, match=r"both .* hold the costs"):
        load_file(table)


def test_bundles_in_every_form(table: Path) -> None:
    assert load_file(table).bundles is None
    write(table.with_name("toy.costs.csv"), "feature,cost,bundle\nsize,1,\ncolour,2,blood\n")
    data = load_file(table)
    assert data.bundles == (None, "blood")
    assert data.info().n_bundles == 1
    assert data.take([0]).bundles == (None, "blood")
    table.with_name("toy.costs.csv").unlink()
    for bundles, expected in (({"size": 3}, (3, None)), (["a", "a"], ("a", "a"))):
        write(table.with_name("toy.costs.json"), json.dumps({"feature_costs": 1, "bundles": bundles}))
        assert load_file(table).bundles == expected
    write(table.with_name("toy.costs.json"), json.dumps({"bundles": {"sise": 1}}))
    with pytest.raises(ValueError, match="bundles names 'sise'"):
        load_file(table)
    for given, expected in ((["a", ""], ("a", None)), ([-1, 4], (None, 4))):
        path = save(table.with_name("a.npz"), X=np.eye(2), y=[0, 1], bundle=given)
        assert load_file(path).bundles == expected


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("c.csv", "name,cost\nsize,1\n", "must have the columns feature and cost"),
        ("c.csv", "feature,cost,discount\nsize,1,1\n", "the price that is left"),
        ("c.csv", "feature,cost\nsize,1\nweight,2\n", "row 2 names 'weight', which is not a feature"),
        ("c.csv", "", "is empty"),
        ("c.csv", "feature;cost\nsize;1\n", "parted by ';'"),
        ("c.csv", "feature,cost\nsize,1\nsize,2\n", "row 2 gives 'size' a price for the second time"),
        ("c.csv", "feature,cost\nsize,1\n", "names 1 of 2 features, and not 'colour'"),
        ("c.csv", "feature,cost\nsize,1\ncolour,cheap\n", r"column 'cost' .* row 2 \(colour\) has 'cheap'"),
        ("c.csv", "feature,cost\nsize,1\ncolour,-2\n", "row 2"),
        ("c.csv", "feature,cost,discounted\nsize,1,1\ncolour,2,1\n", "no groups"),
        ("c.csv", "feature,cost,discounted,group\nsize,1,2,a\ncolour,2,1,a\n", "discounted price of 'size' is 2"),
        ("c.json", '{"feature_costs": 1,\n oops}', "line 2, column 2 is no JSON"),
        ("c.json", "[1, 2]", "must hold an object"),
        ("c.json", '{"prices": 1}', "'prices'"),
        ("c.json", '{"feature_costs": {"size": 1}}', "not 'colour'"),
        ("c.json", '{"feature_costs": {"sise": 1, "colour": 2}}', "did you mean 'size'"),
        ("c.json", '{"feature_costs": [1]}', "1 entries for 2 features"),
        ("c.json", '{"feature_costs": [1, "a"]}', "'colour' has 'a'"),
        ("c.json", '{"feature_costs": [1, -1]}', "'colour' has -1"),
        ("c.json", '{"feature_costs": 1, "decision_costs": [[0, 1]]}', r"decision_costs \(rows: 'a', 'b'"),
        ("c.json", '{"groups": ["a", "a"], "discounted_costs": 1}', "discounts but no prices"),
    ],
)
def test_prices_that_are_wrong(table: Path, name: str, text: str, message: str) -> None:
    costs = write(table.with_name(name), text)
    with pytest.raises(ValueError, match=message) as caught:
        load_file(table, costs=costs)
    assert str(costs) in str(caught.value)


def save(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def test_arrays(tmp_path: Path) -> None:
    path = save(
        tmp_path / "a.npz",
        X=np.arange(6.0).reshape(3, 2),
        y=np.array([0, 1, 0]),
        class_names=np.array(["no", "yes"]),
        feature_names=np.array(["u", "v"]),
        train_idx=np.array([0, 1]),
        valid_idx=np.array([2]),
        cost=np.array([1.0, np.nan]),
        discount_cost=np.array([0.5, np.nan]),
        group=np.array(["A", ""]),
    )
    data = load_file(path)
    assert data.labels.tolist() == ["no", "yes", "no"]
    assert data.feature_names == ("u", "v")
    assert data.groups == ("A", None)
    assert data.train_index is not None
    assert data.train_index.tolist() == [0, 1]
    assert data.valid_index is not None
    assert data.test_index is None
    write(tmp_path / "a.costs.csv", "feature,cost\nu,7\nv,8\n")
    assert load_file(path).costs(missing_cost=1).feature_costs.tolist() == [7, 8]


def test_sparse_arrays_stay_sparse(tmp_path: Path) -> None:
    X = sp.random_array((4, 1000), density=0.01, format="csr", rng=np.random.default_rng(0))
    path = save(
        tmp_path / "s.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=["a", "b", "a", "c"]
    )
    data = load_file(path)
    assert sp.issparse(data.X)
    assert data.class_names == ("a", "b", "c")
    assert (data.X != X).nnz == 0


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({}, "no array 'y'"),
        ({"y": [0, 1, 1]}, "one label for each of the 2 rows"),
        ({"y": [0, 2], "class_names": ["a", "b"]}, "must hold 0 to 1"),
        ({"y": [0, 1], "train_idx": [0.5]}, "train_idx must hold the numbers of rows"),
        ({"y": [0, 1], "train_idx": [5]}, "train_index"),
        ({"y": [0, 1], "cost": [1.0]}, "cost must hold 2 numbers"),
        ({"y": [0, 1], "cost": [1.0, -1.0]}, "feature 1 has -1"),
        ({"y": [0, 1], "group": ["a"]}, "group must have 2"),
        ({"y": [0, 1], "bundle": ["a"]}, "bundle must have 2"),
        ({"y": [0, 1], "cost": [1.0, 1.0], "discount_cost": [1.0, 1.0]}, "no groups"),
        ({"y": [0, 1], "feature_names": ["a"]}, "1 names for 2 features"),
    ],
)
def test_arrays_that_are_wrong(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    path = save(tmp_path / "bad.npz", X=np.eye(2), **arrays)
    with pytest.raises(ValueError, match=message) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    path = save(tmp_path / "evil.npz", X=np.eye(2), y=np.array([0, object()], dtype=object))
    with pytest.raises(ValueError, match="holds Python objects, which are never read"):
        load_file(path)
    with pytest.raises(ValueError, match=r"no \.npz file"):
        load_file(write(tmp_path / "text.npz", "a,b"))
    with pytest.raises(ValueError, match="no table of named columns"):
        load_file(save(tmp_path / "fine.npz", X=np.eye(2), y=[0, 1]), drop=["a"])


def test_svmlight(tmp_path: Path) -> None:
    X = sp.random_array((5, 40), density=0.3, format="csr", rng=np.random.default_rng(1))
    path = tmp_path / "text.svmlight"
    dump_svmlight_file(sp.csr_matrix(X), np.array([-1, 1, 1, -1, 1]), str(path), zero_based=False)
    data = load_file(path)
    assert data.class_names == ("-1", "1")
    assert data.y.tolist() == [0, 1, 1, 0, 1]
    assert np.allclose(data.X.toarray(), X.toarray()[:, : data.X.shape[1]])
    packed = tmp_path / "packed.libsvm.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load_file(packed).name == "packed"


@pytest.mark.parametrize("form", ["npz", "svmlight"])
def test_trees_of_scikit_learn_take_sparse_files(tmp_path: Path, form: str) -> None:
    X = sp.random_array((60, 40), density=0.3, format="csr", rng=np.random.default_rng(1))
    y, path = np.arange(60) % 2, tmp_path / f"t.{form}"
    if form == "npz":
        save(
            path, data=X.data, indices=X.indices.astype(np.int64), indptr=X.indptr.astype(np.int64), shape=X.shape, y=y
        )
    else:
        dump_svmlight_file(sp.csr_matrix(X), y, str(path), zero_based=False)
    data = load_file(path)
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32
    assert np.allclose(data.X.toarray(), X.toarray())
    rows = np.arange(0, 60, 3)
    assert DecisionTreeClassifier().fit(data.X[rows], data.y[rows]).tree_.node_count > 1
    assert DecisionTreeClassifier().fit(data.take(rows).X, data.y[rows]).tree_.node_count > 1


@pytest.mark.parametrize(
    "text, message",
    [
        ("1 1:2 2:3\n-1 1:x\n", "line 2 has '1:x'"),
        ("1 1:2\n# a comment\n-1 5:1 3:2\n", "line 3 has '3:2'"),
        ("yes 1:2\n", "line 1 has 'yes'"),
        ("1 1:2 7\n", "line 1 has '7'"),
        ("", "no row"),
    ],
)
def test_svmlight_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_file(write(tmp_path / "bad.svm", text))


def test_a_price_that_stands_twice_in_json_is_refused(table: Path) -> None:
    costs = write(table.with_name("c.json"), '{"feature_costs": {"size": 1, "colour": 2, "size": 3}}')
    with pytest.raises(ValueError, match=r"c.json cannot be read: 'size' stands twice in one object"):
        load_file(table, costs=costs)
