"""What a feature may show, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier


def outcome_labels(classifier: SequentialClassifier, column: int, *, intervals: bool = False) -> list[str]:
    """Describe what a feature may show: its categories, or its bins.

    Parameters
    ----------
    classifier : SequentialClassifier
        A fitted classifier.
    column : int
        Column of the training data.
    intervals : bool
        Whether to give intervals also where training showed few whole numbers.

    Returns
    -------
    list of str
        One description an outcome.

    Examples
    --------
    >>> from seqclass import SequentialClassifier
    >>> clf = SequentialClassifier().fit([[0.0], [0.0], [3.0], [3.0]], [0, 0, 1, 1])
    >>> outcome_labels(clf, 0), outcome_labels(clf, 0, intervals=True)
    (['0', '[1, 2)', '3'], ['< 1', '[1, 2)', '>= 2'])
    """
    encoder = classifier.encoder_
    if encoder is not None and column_key(classifier, column) in encoder.categories_:
        return [str(c) for c in encoder.categories_[column_key(classifier, column)].tolist()]
    return classifier.coder_.labels(column, intervals=intervals)


def column_key(classifier: SequentialClassifier, column: int) -> Any:
    """Name of a column in the data frame of the training data."""
    assert classifier.encoder_ is not None
    return classifier.encoder_.columns_[column]
