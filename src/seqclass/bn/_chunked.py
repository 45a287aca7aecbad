"""Models that learn from rows which come in chunks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass._information import contingency_table
from seqclass.bn._checks import Codes, resolve_prior

T = TypeVar("T")


class CodedChunks(ABC):
    """Rows of outcome codes that come in chunks, as a model sees them.

    Attributes
    ----------
    counts : ndarray of shape (n_features, V_max, n_classes)
        Rows of each outcome in each class; missing cells are left out.
    class_count : ndarray of shape (n_classes,)
        Rows of each class.
    sample : tuple of codes and ndarray of int
        Rows drawn at random, of every class the same share, and the numbers of their classes; all rows where there are
        no more.
    """

    counts: FloatArray
    class_count: FloatArray
    sample: tuple[Codes, IntArray]

    @abstractmethod
    def total(self, of: Callable[[Codes, IntArray], T], add: Callable[[T, T], T]) -> T:
        """Work out a statistic of each chunk's codes and classes, which can be pickled, and add them up."""

    @property
    def whole(self) -> bool:
        """Whether the sample is all there is."""
        return bool(len(self.sample[1]) == self.class_count.sum())


class FromChunks:
    """Fits an observation model to rows that come in chunks."""

    classes_: npt.NDArray[Any]
    n_features_in_: int
    n_outcomes_: IntArray
    class_prior_: FloatArray

    def _learn_chunks(self, chunks: CodedChunks, classes: npt.NDArray[Any], n_outcomes: IntArray) -> Any:
        self.classes_, self.n_outcomes_ = classes, n_outcomes.copy()
        self.n_features_in_ = len(n_outcomes)
        self.class_prior_ = resolve_prior(None, chunks.class_count)
        self._fit_chunks(chunks)
        return self

    def _fit_chunks(self, chunks: CodedChunks) -> None:
        """Learn from rows that come in chunks, as `_fit` does from all at once; models that can override it."""
        raise ValueError(
            f"observation_model: {type(self).__name__} learns from all rows at once. From chunks learn NaiveBayes, "
            "ClassMixture and TreeNetwork; or fit to a sample of the rows, clf.fit(*chunks.sample(100_000))."
        )


def count_outcomes(codes: Codes, y: IntArray, n_classes: int, n_outcomes: IntArray) -> FloatArray:
    """Counts of outcomes by class, (n_features, V_max, n_classes).

    Examples
    --------
    >>> import numpy as np
    >>> count_outcomes(np.array([[0], [1]]), np.array([0, 1]), 2, np.array([2]))
    array([[[1., 0.],
            [0., 1.]]])
    """
    return contingency_table(codes, y, n_classes, n_outcomes)
