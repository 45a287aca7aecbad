"""Fitting a `SequentialClassifier` to more rows than memory holds: from chunks, or a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, ClassVar

import numpy.typing as npt

from seqclass._chunk_fitting import fit_from
from seqclass._chunks.source import as_chunks
from seqclass._held_out import check_folds
from seqclass._row_by_row import add_rows, fixed
from seqclass._validation import check_integer


class _WhereBinsAreFixed:
    """A method that only those classifiers have whose settings fix the bins, as scikit-learn's checks expect."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)  # type: ignore[arg-type]
        self.function = function

    def __get__(self, clf: Any, owner: Any = None) -> Any:
        if clf is None:
            return self.function
        if not fixed(clf.discretizer) or not clf._grows:
            raise AttributeError(
                f"{type(clf).__name__}.partial_fit needs bins that are fixed: give a discretizer that is fitted "
                'already (such as another classifier\'s coder_.discretizer_) or "precomputed"; or use fit_chunks.'
            )
        return MethodType(self.function, clf)


class Growing:
    """Fits a `SequentialClassifier`, which says what its parts are, without having all rows in memory."""

    selector: Any
    discretizer: Any
    _grows: ClassVar[bool] = True

    def fit_chunks(self, chunks: Any, *, sample_rows: int = 20_000, held_out: int = 0) -> Any:
        """Learn from rows that come in chunks, of which a few passes are made; memory is bounded by a chunk.

        Bins, counts and what models learn are statistics of chunks that add up. With bins of equal widths, the default,
        naive Bayes is the same as after `fit` to all rows at once; with quantiles ranks of edges are right to 0.14% of
        the rows (KLL sketches, which draw random bits of their own and need the extra ``large``). A
        `seqclass.bn.ClassMixture` is fitted to the sample, from where EM goes on over all chunks; a
        `seqclass.bn.TreeNetwork` is learnt from counts of all pairs. What else looks at rows looks at a sample of them:
        ``order="conditional"``, the choice between an adaptive and a fixed order, ``calibrate`` and ``held_out``, whose
        figures are those of a classifier fitted to the sample.

        Parameters
        ----------
        chunks : Chunks, list of pairs (X, y), or function
            What `seqclass.large.read_parquet` or `seqclass.large.from_dask` gives; or a list of chunks of features and
            labels, or a function without arguments that gives a new iterator of such pairs.
        sample_rows : int
            Size of the sample: of every class the same share and one row at least, drawn by ``random_state``. All rows
            where there are no more; the classifier is then the same as after `fit`.
        held_out : int
            Folds for ``held_out_``, of the sample; see `fit`.

        Returns
        -------
        SequentialClassifier

        Raises
        ------
        TypeError
            If chunks can be gone through only once.
        ValueError
            If data, prices, costs or settings are wrong, the chunks change between passes, or a part needs all rows at
            once: a selector, a discretiser of another package that is not fitted, or another model than those named.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> clf = SequentialClassifier().fit_chunks([(X[:300], y[:300]), (X[300:], y[300:])])
        >>> clf.order_.tolist() == SequentialClassifier().fit(X, y).order_.tolist()
        True
        """
        n_folds = check_folds(held_out)
        check_integer(sample_rows, "sample_rows", 1)
        source = as_chunks(chunks)
        if self.selector is not None:
            raise ValueError(
                f"selector: {type(self.selector).__name__} needs all rows at once. Fit it to a sample of the rows, "
                "chunks.sample(100_000), read the columns that it keeps (read_parquet(columns=...)), and give "
                "selector=None."
            )
        fit_from(self, source, sample_rows, n_folds)  # type: ignore[arg-type]
        return self

    @_WhereBinsAreFixed
    def partial_fit(self, X: Any, y: npt.ArrayLike, classes: Any = None, n_outcomes: Any = None) -> Any:
        """Add rows to what naive Bayes has counted, and plan anew.

        Only where bins are fixed: with ``discretizer="precomputed"``, or one that is fitted already, which then stays
        as it is. The result is that of counting all rows so far at once. Each call solves for the policy again: give
        rows by the thousand rather than one by one.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Numbers, NaN where missing.
        y : array-like of shape (n,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            All classes there will be; needed in the first call.
        n_outcomes : int or array-like of shape (n_features,), optional
            Number of outcomes of each feature; needed in the first call with ``discretizer="precomputed"``.

        Returns
        -------
        SequentialClassifier

        Raises
        ------
        AttributeError
            If the settings do not fix the bins.
        ValueError
            If the model is not naive Bayes, a label or an outcome is new, a column is categorical, or a setting needs
            all rows: a selector or ``calibrate``.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass import SequentialClassifier
        >>> clf = SequentialClassifier(discretizer="precomputed")
        >>> _ = clf.partial_fit([[0, 1], [1, 1]], ["a", "b"], classes=["a", "b"], n_outcomes=2)
        >>> clf.partial_fit([[1, 0]] * 8, ["b"] * 8).model_.class_count_.tolist()
        [1.0, 9.0]
        """
        add_rows(self, X, y, classes, n_outcomes)  # type: ignore[arg-type]
        return self
