"""scikit-learn's own checks of the estimator contract."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from seqclass import SequentialClassifier, etana
from seqclass.pomdp import Perseus


@parametrize_with_checks(
    [
        SequentialClassifier(),
        etana(published=True),
        SequentialClassifier(solver=Perseus(50, certificate_paths=100), order="information"),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
