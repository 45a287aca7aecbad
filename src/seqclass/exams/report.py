"""How often an adaptive test uses its items, and how precise it is at each ability."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray, IntArray, as_generator, chunks
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer, check_kind
from seqclass.agent.agent import acquire_encoded, agent_of, feature_name, make_record
from seqclass.agent.record import EncodedRows
from seqclass.exams.items import ItemResponse

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ExamReport", "exam_report"]


@dataclass(frozen=True, repr=False)
class ExamReport(Readable):
    """Exposure of each of ``m`` items, and precision in each of ``k`` bands of ability, for simulated persons.

    Attributes
    ----------
    items : tuple of str
        Names of the items.
    exposure : ndarray of shape (m,)
        Share of the persons who were asked each item, by itself or in a bundle; persons for whom it was known do not
        count.
    ability : ndarray of shape (k,)
        Mean ability in each band; bands have equally many persons, up to rounding.
    n_persons : ndarray of int of shape (k,)
        Number of persons in each band.
    n_items : ndarray of shape (k,)
        Mean number of items asked.
    errors, too_high, too_low : ndarray of shape (k,)
        Share of persons decided for a wrong class, and for one of abler or less able persons than theirs, such as a
        wrong pass and a wrong fail; a further decision, such as "refer", does not count.
    longest : ndarray of shape (k,)
        Share of persons who were asked the most questions that are allowed.
    bias, rmse : ndarray of shape (k,)
        Mean and root mean square of the estimated less the true ability; the estimate is the posterior mean, given what
        was asked and what was known at the start.
    sd : ndarray of shape (k,)
        Mean standard deviation of the posterior of ability, which is what the test itself believes.

    Notes
    -----
    The last row of `to_frame` is of all persons.

    Examples
    --------
    >>> none = np.zeros(1)
    >>> report = ExamReport(("a",), np.ones(1), none, np.array([9]), np.ones(1), *[none] * 7)
    >>> float(report.exposure_table().loc["a", "exposure"]), report.exposure_table().attrs["units"]
    (1.0, {'exposure': 'share of the persons'})
    """

    _in_summary = ("exposure", "ability", "errors", "rmse")
    _units = dict.fromkeys(("ability", "bias", "rmse", "sd"), "points of ability") | dict.fromkeys(
        ("exposure", "errors", "too_high", "too_low", "longest"), "share of the persons"
    )
    _columns = (
        *("ability", "n_persons", "n_items", "longest", "errors", "too_high", "too_low"),
        *("bias", "rmse", "sd"),
    )
    _axis = "band"

    items: tuple[str, ...]
    exposure: FloatArray
    ability: FloatArray
    n_persons: IntArray
    n_items: FloatArray
    errors: FloatArray
    bias: FloatArray
    rmse: FloatArray
    sd: FloatArray
    too_high: FloatArray
    too_low: FloatArray
    longest: FloatArray

    def _table(self) -> pd.DataFrame:
        import pandas as pd

        table: pd.DataFrame = pd.DataFrame(super()._table()).astype(np.float64)
        share = self.n_persons / self.n_persons.sum()
        table.loc["all"] = table.mul(share, axis=0).sum()
        table.loc["all", "rmse"] = (share @ self.rmse**2) ** 0.5
        table["n_persons"] = [*self.n_persons.tolist(), int(self.n_persons.sum())]
        return table

    def exposure_table(self) -> pd.DataFrame:
        """Return a data frame with one row per item, by its name, the most exposed first."""
        import pandas as pd

        table = pd.DataFrame({"exposure": self.exposure}, pd.Index(self.items, name="item"))
        return self._with_units(table.sort_values("exposure", ascending=False, kind="stable"))


def exam_report(
    clf: BaseSequentialClassifier, n_persons: int = 2000, *, n_bands: int = 8, random_state: Any = 0
) -> ExamReport:
    """Give an adaptive test to simulated persons: exposure by item, and precision by ability.

    Parameters
    ----------
    clf : SequentialClassifier
        A fitted classifier whose model is an `seqclass.exams.ItemResponse` of outcomes.
    n_persons : int
        Number of persons, who are drawn from the model with the class prior of the classifier.
    n_bands : int
        Number of bands of ability, with equally many persons each.
    random_state : int, generator or None
        Seed of the simulated persons.

    Returns
    -------
    ExamReport

    Raises
    ------
    ValueError
        If the model has no ability, or the classifier cuts numbers into outcomes.

    Examples
    --------
    >>> from seqclass import SequentialClassifier
    >>> from seqclass.exams import ItemResponse
    >>> model = ItemResponse.from_items({"a": [1.5] * 6, "b": [-1, -0.5, 0, 0, 0.5, 1]}, cuts=[0.0], points=9)
    >>> report = exam_report(SequentialClassifier.from_model(model, feature_costs=0.02), 500, n_bands=2)
    >>> float(report.exposure.max()), report.to_frame().shape
    (1.0, (3, 10))
    """
    check_integer(n_persons, "n_persons", check_integer(n_bands, "n_bands", 1))
    agent, rng = agent_of(clf), as_generator(random_state)
    model: Any = agent.model
    check_kind(model, ItemResponse, "clf.model_", "an ItemResponse, which knows of abilities")
    if agent.coder.discretizer_ is not None:
        raise ValueError('clf must be given outcomes as they are: fit it with discretizer="precomputed".')
    model = copy.copy(model)
    model.class_prior_ = agent.problem.prior  # which `with_prior` has changed
    share = model.class_prior_[model.hidden_class_] * model.weights_
    state = np.sort(rng.choice(len(share), n_persons, p=share / share.sum()))
    codes: IntArray = np.empty((n_persons, len(agent.support)), dtype=np.intp)
    for part in chunks(n_persons, 8.0 * 3 * model.tables_.shape[0] * model.tables_.shape[1]):
        below = model.tables_[:, :, state[part]].cumsum(axis=1) <= rng.random((len(agent.support), 1, len(state[part])))
        codes[part] = np.minimum(below.sum(axis=1).T, model.n_outcomes_ - 1)
    # persons who would answer alike draw lots of their own
    rows = EncodedRows(codes, np.arange(len(agent.support)), np.arange(1.0, n_persons + 1)[:, None])
    record = make_record(agent, acquire_encoded(agent, rows, agent.known))
    row, at = np.nonzero(record.order >= 0)
    asked = np.zeros((n_persons, agent.n_features), dtype=bool)
    asked[row, record.order[row, at]] = True
    asked = asked[:, agent.support]
    for members in map(agent.problem.structure.members, range(agent.problem.n_questions)):
        asked[:, members] = asked[:, members[:1]]  # a record tells of a bundle by its first column
    told = asked.copy()
    told[:, agent.known] = True
    mean, sd = model.ability(np.where(told, codes, -1))
    true, label = model.ability_[state], model.classes_[model.hidden_class_[state]]
    wrong = (record.decision != label) & np.isin(record.decision, model.classes_)
    # how able the persons of each class are; a further decision is neither too high nor too low
    able = dict(zip(model.classes_.tolist(), np.bincount(model.hidden_class_, model.weights_ * model.ability_)))
    decided, own = (np.array([able.get(one, np.nan) for one in told.tolist()]) for told in (record.decision, label))
    bands = np.array_split(np.argsort(true, kind="stable"), n_bands)

    def by_band(values: Any) -> FloatArray:
        return np.array([values[band].mean() for band in bands])

    return ExamReport(
        tuple(feature_name(agent, column) for column in agent.support.tolist()),
        asked.mean(axis=0),
        by_band(true),
        np.array([len(band) for band in bands]),
        by_band(asked.sum(axis=1)),
        by_band(wrong),
        by_band(mean - true),
        np.sqrt(by_band((mean - true) ** 2)),
        by_band(sd),
        by_band(decided > own),
        by_band(decided < own),
        by_band((record.order >= 0).sum(axis=1) >= agent.problem.n_stages),
    )
