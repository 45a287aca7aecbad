"""What was done for each instance, step by step, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import BoolArray, IntArray
from seqclass._case import Questions
from seqclass._record_rows import step_prices, steps_of
from seqclass.classifier import SequentialClassifier


def action_table(clf: SequentialClassifier, X: Any, *, known: Sequence[Any] = (), budget: int | None = None) -> Any:
    """Acquire for every row, and tell each action: what was asked, at what price, in what belief.

    Parameters
    ----------
    clf : SequentialClassifier
        Fitted.
    X : array-like or data frame of shape (n, n_features)
        Rows to classify.
    known : sequence of int or str
        Columns that are known at the start; see `SequentialClassifier.acquire`. They are no actions.
    budget : int, optional
        So many questions are asked of every row, no fewer and no more; see `SequentialClassifier.acquire`.

    Returns
    -------
    pandas.DataFrame
        A row for each question and one for the stop, by instance and step. ``row``: row of ``X``. ``step``: questions
        asked before. ``action``: name of the feature or bundle, None for the stop. ``outcome``: number of the outcome
        that it showed, missing where the value was missing and at the stop. ``price``: what was paid for the action, in
        units of misclassification cost. ``cost``: what was paid so far, that included. ``decision``: the decision of
        least expected cost before the action, at the stop the one taken. ``P(label)`` of each class: the belief before
        the action, at the stop the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0)
    >>> clf = SequentialClassifier().fit(X, np.repeat(["a", "b"], 20))
    >>> print(action_table(clf, [[0.1, 5.0]]).round(3).to_string(index=False))
     row  step action  outcome  price  cost decision  P(a)  P(b)
       0     0     x0        0   0.01  0.01        a 0.500 0.500
       0     1   None     <NA>   0.00  0.01        a 0.955 0.045
    """
    import pandas as pd

    record = clf.acquire(X, record_beliefs=True, known=known, budget=budget)
    rows, step = steps_of(record, record.order >= 0)
    stop = step == (record.order >= 0).sum(axis=1)[rows]
    asked = rows[~stop], step[~stop]
    beliefs: Any = record.beliefs
    belief = beliefs[rows, step]
    decision = clf.decisions_[(belief @ clf.problem_.decision_costs).argmin(axis=1)]
    decision[stop] = record.decision
    price = _spread(step_prices(record, clf._prices, clf.charge_missing)[asked], ~stop, 0.0)
    outcome = _spread(record.outcome[asked], ~stop, -1)
    table = pd.DataFrame(
        {
            "row": rows,
            "step": step,
            "action": pd.Series(_spread(_names(clf, record.order[asked]), ~stop, None), dtype=object),
            "outcome": pd.array(outcome, dtype="Int64"),
            "price": price,
            "cost": pd.Series(price).groupby(rows).cumsum(),
            "decision": decision,
        }
    )
    table.loc[outcome < 0, "outcome"] = pd.NA
    for label, probability in zip(clf.classes_, belief.T):
        table[f"P({label})"] = probability
    return table


def _names(clf: SequentialClassifier, columns: IntArray) -> npt.NDArray[Any]:
    """What the questions are called, by the first column that each shows."""
    questions = Questions(clf, clf.problem_)
    called = {
        questions.features(question)[0].column: questions.name(question) for question in range(clf.problem_.n_questions)
    }
    distinct, number = np.unique(columns, return_inverse=True)
    return np.array([called[column] for column in distinct.tolist()], dtype=object)[number]


def _spread(values: npt.NDArray[Any], places: BoolArray, elsewhere: Any) -> npt.NDArray[Any]:
    spread = np.full(len(places), elsewhere, dtype=values.dtype)
    spread[places] = values
    return spread
