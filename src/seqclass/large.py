"""Data of any size: Parquet files and collections of dask in chunks of rows, to fit classifiers to and to decide for.

`SequentialClassifier.fit_chunks` takes what `read_parquet` and `from_dask` give; `predict_parquet` and `predict_dask`
decide part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from seqclass._chunks.dasked import from_dask
from seqclass._chunks.parquet import read_parquet
from seqclass._chunks.source import Chunks
from seqclass._decided import absent_asked, check_kept, decided_frame, example_frame, full_frame
from seqclass._deciding_parts import DecidedParts, decide_parts
from seqclass._messages import shown
from seqclass.classifier import SequentialClassifier

__all__ = ["Chunks", "DecidedParts", "from_dask", "predict_dask", "predict_parquet", "read_parquet"]


def predict_parquet(
    classifier: SequentialClassifier,
    path: str | Path,
    output: str | Path,
    *,
    keep: Sequence[str] = (),
    chunk_rows: int | None = None,
) -> DecidedParts:
    """Decide for every row of a Parquet file, or of a folder of them, into a folder of Parquet files, part by part.

    Each file becomes one of the same name and place below ``output``, written whole or not at all. A call that was cut
    short is taken up by the same call: parts that are there, of this classifier and of files that have not changed
    since, are left as they are. Memory is bounded by a chunk of rows.

    Parameters
    ----------
    classifier : SequentialClassifier
        A fitted classifier.
    path : path
        File or folder, as in `read_parquet`. Columns may come in any order; further ones are ignored, and ones that no
        row asks for may be left out.
    output : path
        Folder to write to; it is made if need be.
    keep : sequence of str
        Columns to copy, such as a case number.
    chunk_rows : int, optional
        Rows that are decided at once.

    Returns
    -------
    DecidedParts
        Totals over all parts, those of earlier calls included.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a part in ``output`` is of another classifier or is no part, a file is damaged, or a column is lacking.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from seqclass import SequentialClassifier
    >>> frame = pd.DataFrame({"dose": [0.1, 0.9] * 50, "case": range(100)})
    >>> clf = SequentialClassifier().fit(frame[["dose"]], ["no", "yes"] * 50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.to_parquet(os.path.join(folder, "new.parquet"))
    ...     done = predict_parquet(clf, os.path.join(folder, "new.parquet"), os.path.join(folder, "out"), keep=["case"])
    ...     pd.read_parquet(os.path.join(folder, "out", "new.parquet")).columns.tolist()
    ['case', 'decision', 'posterior_no', 'posterior_yes', 'n_features', 'cost', 'asked']
    >>> done.n_rows, done.decisions
    (100, {'no': 50, 'yes': 50})
    """
    check_is_fitted(classifier, "policy_")
    check_kept(classifier, keep)
    return decide_parts(classifier, Path(path), Path(output), tuple(keep), chunk_rows)


def predict_dask(classifier: SequentialClassifier, X: Any, *, keep: Sequence[str] = ()) -> Any:
    """Decide for every row of a dask DataFrame or dask array, partition by partition; nothing is computed yet.

    Parameters
    ----------
    classifier : SequentialClassifier
        A fitted classifier.
    X : dask DataFrame or dask array
        Rows; an array has the columns of the training data.
    keep : sequence of str
        Columns of a DataFrame to copy.

    Returns
    -------
    dask DataFrame
        ``decision``, ``posterior_...`` of each class, ``n_features``, ``cost`` and ``asked``, a row each, as
        `predict_parquet` writes them.

    Raises
    ------
    TypeError
        If ``X`` is no dask collection.
    ValueError
        If a column to keep is lacking or has the name of one of these.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0)
    >>> clf = SequentialClassifier().fit(X, np.repeat(["a", "b"], 20))
    >>> predict_dask(clf, da.from_array(X, chunks=(10, 2)))["decision"].compute().value_counts().to_dict()
    {'a': 20, 'b': 20}
    """
    import dask.dataframe as dd
    from dask.delayed import delayed

    check_is_fitted(classifier, "policy_")
    if not hasattr(X, "__dask_graph__"):
        raise TypeError(f"X must be a dask DataFrame or dask array, got {type(X).__name__}; of others use acquire.")
    check_kept(classifier, keep)
    shared = delayed(classifier, traverse=False)
    if hasattr(X, "columns"):
        absent = next((name for name in keep if name not in X.columns), None)
        if absent is not None:
            raise ValueError(f"keep: X has no column {shown(absent)}.")
        meta = _decided(X._meta, classifier, tuple(keep))
        return X.map_partitions(_decided, shared, tuple(keep), meta=meta)
    if keep:
        raise ValueError("keep: an array has no columns to copy.")
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    decide = delayed(_decided)
    parts = [decide(block, shared, ()) for block in X.to_delayed().ravel()]
    return dd.from_delayed(parts, meta=example_frame(classifier).iloc[:0])


def _decided(X: Any, clf: SequentialClassifier, keep: tuple[str, ...]) -> Any:
    """What is decided for a partition."""
    kept = X[list(keep)] if keep else None
    if not len(X):
        found = example_frame(clf).iloc[:0]
        for at, name in enumerate(keep):
            found.insert(at, name, X[name].to_numpy())
        return found.set_index(X.index) if hasattr(X, "index") else found
    record = clf.acquire(full_frame(clf, X) if hasattr(X, "columns") else X)
    if hasattr(X, "columns") and (wanted := absent_asked(clf, record, set(map(str, X.columns)))) is not None:
        raise ValueError(f"X lacks the column {shown(clf.feature_name(wanted[1]))}, which a row asks for.")
    found = decided_frame(clf, record, kept)
    return found.set_index(X.index) if hasattr(X, "index") else found
