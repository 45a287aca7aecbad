"""How far answers are trusted, depending on how many came before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqclass._utils.arrays import FloatArray
from seqclass._utils.model_files import register
from seqclass._utils.stored import require_array
from seqclass._utils.tables import Readable

__all__ = ["Calibration"]


@register
@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Readable):
    """How much of the evidence that the model sees in each answer is confirmed by rows that it has not seen.

    Models learnt from few rows, and models that count repeated evidence as new, become too sure, and more so the more
    they have asked. So everything is fitted again without each fold in turn, and the rows of the fold are asked what
    the classifier would ask them. The log-likelihood ratio of the k-th answer is multiplied by ``exponents[k]``,
    between 0 and 1, which makes the true classes of these rows likely. It is the mean under exp(-log loss) times a
    normal distribution around the previous exponent (around 1 for the first), which is worth four rows. Only rows count
    that are not yet settled.

    Attributes
    ----------
    exponents : ndarray of shape (n_stages,)
        Exponent of the k-th answer: 1 takes it as the model does, 0 ignores it.
    n_rows : ndarray of shape (n_stages,)
        Number of rows that the exponent was found on, each counted once.
    loss : ndarray of shape (n_stages,)
        Mean log loss, in nats, of the class of these rows after the answer, as calibrated.
    loss_before : ndarray of shape (n_stages,)
        The same for the model without calibration.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import seqclass
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = seqclass.etana(0.01, calibrate=True).fit(X[::2], y[::2])
    >>> found = clf.calibration_
    >>> bool(found.exponents[5] < found.exponents[0]), bool(found.loss[5] < found.loss_before[5])
    (True, True)
    """

    _in_summary = ("exponents", "n_rows", "loss", "loss_before")
    _axis = "answer"
    _units = {"loss": "nats", "loss_before": "nats"}

    exponents: FloatArray
    n_rows: FloatArray
    loss: FloatArray
    loss_before: FloatArray

    def _summary(self) -> str:
        return super()._summary() if self.exponents.size else "nothing, as no answer is worth its price"

    def __str__(self) -> str:
        if not self.exponents.size:
            return "Nothing is calibrated, as no answer is worth its price."
        lines = ["answer  exponent  rows  log loss  before"]
        for k, row in enumerate(zip(self.exponents, self.n_rows, self.loss, self.loss_before), start=1):
            exponent, n, loss, before = row
            lines.append(f"{k:>6}  {exponent:>8.2f}  {n:>4.0f}  {loss:>8.3f}  {before:>6.3f}")
        return "\n".join(lines)

    def _table(self) -> Any:
        import pandas as pd

        columns = {name: getattr(self, name) for name in ("exponents", "n_rows", "loss", "loss_before")}
        return pd.DataFrame(columns, index=pd.RangeIndex(1, len(self.exponents) + 1))

    def _check_stored(self) -> None:
        exponents = require_array(self, "exponents", "f", None, low=0, high=1)
        for name in ("n_rows", "loss", "loss_before"):
            require_array(self, name, "f", len(exponents))
