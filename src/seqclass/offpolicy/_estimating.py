"""From scores of rows to estimates with intervals, and how far records support them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from seqclass._arrays import BoolArray, FloatArray
from seqclass.offpolicy._recorder import Chances
from seqclass.offpolicy._records import Records
from seqclass.offpolicy._replay import PARTS
from seqclass.offpolicy.estimate import Estimate, Part

#: Parameters of a rule are allowed for in standard errors while there are so many rows to each.
_ROWS_A_PARAMETER = 4
#: Methods whose weights have a mean of one, where everybody had a chance.
_OF_ONE = ("ipw", "ipw_plain", "doubly_robust")


@dataclass(frozen=True)
class Support:
    """How far records reach: rows, the share that can be replayed, and the share that nothing is known about."""

    n_rows: int
    replayed: float
    unsupported: float

    @classmethod
    def of(cls, records: Records, missing: BoolArray, chances: Chances, min_chance: float) -> Support:
        """Look at what the policy asks for and was not recorded: the chance that all of it is."""
        chance = np.where(missing, chances.chance[:, records.support[records.asked]], 1.0).prod(axis=1)
        unsupported = missing.any(axis=1) & (chance < min_chance)
        return cls(records.n, float((~missing.any(axis=1)).mean()), float(unsupported.mean()))

    def check(self, weights: FloatArray) -> None:
        """Refuse records of which nothing counts."""
        if not weights.any():
            raise ValueError(
                f"none of the {self.n_rows} rows of X has all that the policy asks for: these records say nothing "
                'about it without a model (method="direct"). Judge one that asks less, or bring more records.'
            )


def ratio_scores(parts: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted means, and scores of the rows whose variance is that of the means.

    A row's score is by how much the means change without it (jackknife): where few rows weigh much, those that pull the
    means to themselves would look as if they agreed with them.
    """
    means = weights @ parts / weights.sum()
    share = np.minimum(weights / weights.sum(), 0.5)
    return means, means + (weights / (1 - share))[:, None] * (parts - means) / weights.mean()


def estimated(
    method: str,
    means: FloatArray,
    scores: FloatArray,
    weights: FloatArray,
    gradients: FloatArray | None,
    level: float,
    support: Support,
) -> Estimate:
    """Means with t intervals from scores of the rows; the rule's fit takes off what its own scores explain."""
    n, effective = len(scores), float(weights.sum() ** 2 / (weights**2).sum())
    errors = _standard_errors(scores - scores.mean(axis=0), gradients)
    reach = float(student.ppf(0.5 + level / 2, effective - 1)) if effective > 1 else np.nan
    ends = np.maximum([means, means - reach * errors, means + reach * errors], 0.0)  # prices and errors are no less
    parts = tuple(
        Part(name, float(mean), float(error), float(low), float(high))
        for name, mean, error, low, high in zip(PARTS, ends[0], errors, *ends[1:])
    )
    about = (support.replayed, support.unsupported, effective, float(weights.max() / weights.mean()))
    counted = int((weights > 0).sum())
    # plain weights have a mean of one over what the recorder may do; twice their standard error is chance
    lacking = float(1 - weights.mean() - 2 * weights.std() / np.sqrt(n)) if method in _OF_ONE else 0.0
    return Estimate(method, parts, float(level), n, counted, *about, max(0.0, lacking))


def _standard_errors(residuals: FloatArray, gradients: FloatArray | None) -> FloatArray:
    n, used = len(residuals), 1
    if n < 2:
        return np.full(residuals.shape[1], np.nan)
    if gradients is not None and gradients.size and _ROWS_A_PARAMETER * gradients.shape[1] <= n:
        explained, _, rank, _ = np.linalg.lstsq(gradients, residuals, rcond=None)
        residuals, used = residuals - gradients @ explained, 1 + int(rank)
    return np.asarray(np.sqrt((residuals**2).sum(axis=0) / (n * (n - used))))
