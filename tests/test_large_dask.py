"""Collections of dask: the same as in memory, partition by partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from large_cases import people, quick, same

from seqclass import Costs
from seqclass.bn import ClassMixture, InformationFilter, NaiveBayes
from seqclass.discretize import Discretizer
from seqclass.large import from_dask, predict_dask
from seqclass.pomdp import GridValueIteration
from seqclass.selection import FCBF, OFS

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
tokenize = pytest.importorskip("dask.base").tokenize
FRAME, ILL = people(240)
NUMBERS = FRAME[["dose", "visits", "zeros"]]


@pytest.mark.slow
def test_a_frame_gives_the_model_of_its_rows() -> None:
    whole = quick().fit(FRAME, ILL)
    frame = dd.from_pandas(FRAME.assign(ill=ILL), npartitions=6)
    same(whole, quick().fit_chunks(from_dask(frame, target="ill")))
    apart = quick().fit_chunks(from_dask(frame.drop(columns="ill"), frame["ill"]))
    same(whole, apart)
    assert apart.target_name_ == "ill"
    empty = frame[frame["visits"] > 1]  # with partitions of other sizes
    same(
        quick().fit(FRAME[FRAME["visits"] > 1], ILL[FRAME["visits"] > 1]),
        quick().fit_chunks(from_dask(empty, target="ill")),
    )


@pytest.mark.slow_cells("ClassMixture")
@pytest.mark.parametrize("make", [ClassMixture, Discretizer, FCBF, InformationFilter, NaiveBayes, OFS, quick])
def test_models_that_differ_in_what_they_learnt_have_tokens_of_their_own(make: Any) -> None:
    whole = np.arange(240)[:, None] % [2, 3, 5]
    one, other = make().fit(whole, ILL), make().fit(whole[:180] + [0, 0, 1], ILL[:180])
    assert tokenize(one) == tokenize(one) != tokenize(other)
    assert tokenize(one.get_params) != tokenize(other.get_params)  # a method is what dask is given
    assert tokenize(GridValueIteration(5)) == tokenize(GridValueIteration(5)) != tokenize(GridValueIteration(6))


@pytest.mark.slow
def test_an_array_is_cut_by_rows_only() -> None:
    values, y = NUMBERS.to_numpy(), ILL.to_numpy().astype("U3")
    chunks = from_dask(da.from_array(values, chunks=(50, 2)), da.from_array(y, chunks=50))
    same(quick().fit(values, y), quick().fit_chunks(chunks))
    assert [len(labels) for _, labels in chunks] == [50, 50, 50, 50, 40]


def test_decisions_are_those_in_memory() -> None:
    clf = quick(solver=None).fit(FRAME, ILL)
    record = clf.acquire(FRAME)
    numbered = FRAME.assign(case=np.arange(240))
    frame = dd.from_pandas(numbered, npartitions=5)
    found = predict_dask(clf, frame[frame["case"] != 3], keep=["case"])
    assert found.columns.tolist() == [
        "case",
        "decision",
        "posterior_no",
        "posterior_yes",
        "n_features",
        "paid",
        "asked",
    ]
    table = found.compute()
    assert table.index.tolist() == table["case"].tolist() == [i for i in range(240) if i != 3]
    assert table["decision"].tolist() == np.delete(record.decision, 3).tolist()
    assert (table.dtypes == found.dtypes).all()
    nobody = predict_dask(clf, frame[frame["case"] < 0], keep=["case"]).compute()
    assert (len(nobody), nobody.columns.tolist()) == (0, found.columns.tolist())
    values = quick(solver=None).fit(NUMBERS.to_numpy(), ILL)
    decided = predict_dask(values, da.from_array(NUMBERS.to_numpy(), chunks=(70, 1)))["decision"].compute()
    assert decided.tolist() == values.predict(NUMBERS.to_numpy()).tolist()


def test_a_column_of_several_marks_is_read_as_of_rows() -> None:
    rows = FRAME[["dose"]].assign(tried=np.where(ILL == "yes", "tea; rest", "none of these"))
    clf = quick(solver=None, order="adaptive", feature_costs=Costs(0.01, marks=["tried"])).fit(rows, ILL)
    found = predict_dask(clf, dd.from_pandas(rows, npartitions=2)).compute()
    assert found["decision"].tolist() == clf.predict(rows).tolist()
    assert set(found["asked"]) == {"tried"}


def test_what_is_wrong_is_said() -> None:
    frame = dd.from_pandas(FRAME.assign(ill=ILL), npartitions=3)
    with pytest.raises(TypeError, match=r"does not say which are the labels.*from_dask\(frame, target="):
        quick().fit_chunks(frame)
    with pytest.raises(ValueError, match="either as y or by target"):
        from_dask(frame)
    with pytest.raises(ValueError, match="there is no column 'sick'"):
        from_dask(frame, target="sick")
    with pytest.raises(TypeError, match="takes dask collections"):
        from_dask(FRAME, ILL)
    with pytest.raises(ValueError, match="X has 3 partitions and y 2"):
        from_dask(frame, dd.from_pandas(ILL, npartitions=2))
    halves = da.from_array(NUMBERS.to_numpy(), chunks=(120, 3))
    others = from_dask(halves, da.from_array(ILL.to_numpy().astype("U3"), chunks=((100, 140),)))
    with pytest.raises(ValueError, match=r"partition \d has 120 rows and 1\d0 labels; cut X and y in the same way"):
        quick().fit_chunks(others)
    clf = quick().fit(FRAME, ILL)
    with pytest.raises(TypeError, match="X must be a dask DataFrame or dask array, got DataFrame"):
        predict_dask(clf, FRAME)
    with pytest.raises(ValueError, match="keep: X has no column 'name'"):
        predict_dask(clf, frame, keep=["name"])
    with pytest.raises(ValueError, match="column 'paid' of its own"):
        predict_dask(clf, frame, keep=["paid"])


def on_a_cluster(**how: Any) -> None:
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, **how}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster):
        frame = dd.from_pandas(FRAME.assign(ill=ILL), npartitions=10)
        clf = quick(solver=None).fit_chunks(from_dask(frame, target="ill"))
        same(quick(solver=None).fit(FRAME, ILL), clf)
        decided = predict_dask(clf, frame)["decision"].compute()
    assert decided.tolist() == clf.predict(FRAME).tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_of_threads_gives_the_same() -> None:
    on_a_cluster(processes=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_of_processes_gives_the_same() -> None:
    on_a_cluster(processes=True)
