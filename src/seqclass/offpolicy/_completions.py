"""What was not recorded, drawn from an observation model that is fitted to the records."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.bn import ObservationModel
from seqclass.deciding.decider import decider_of
from seqclass.offpolicy._records import Records


def fitted_model(
    clf: DecidingClassifier, model: ObservationModel | None, records: Records, train: IntArray
) -> ObservationModel:
    """A model of the classifier's kind, or the one given, fitted to some of the records."""
    if model is None and clf.prefit:
        return clf.model_
    bundles = decider_of(clf).prices.take(records.support).bundles
    if model is None:  # what it names are features of the model already
        unfitted = clone(clf.model_)._among(np.arange(records.support.size), None, bundles)
    else:
        names = getattr(clf, "feature_names_in_", None)
        unfitted = clone(model)._among(records.support, names, bundles)
    labels = clf.classes_[records.label[train]]
    fitted: ObservationModel = unfitted.fit(
        records.codes[train], labels, n_outcomes=clf.coder_.n_outcomes_[records.support]
    )
    return fitted


class Completions:
    """Draws of the features that a policy may ask for, given some that were seen and the class."""

    def __init__(self, model: ObservationModel, asked: IntArray, n_samples: int, rng: np.random.Generator) -> None:
        self.model = model
        self.asked = asked
        self.n_samples = n_samples
        self.rng = rng
        #: Whether features are independent given the class, so that one draw serves whatever was seen.
        self.independent = not any(features.size for features in model.context_features(asked))

    def draw(self, evidence: IntArray, label: IntArray, person: IntArray, n_samples: int | None = None) -> IntArray:
        """Draw ``n_samples`` completions of each row of evidence, (n_rows, n_samples, n_asked).

        ``label`` are positions in the model's classes, ``person`` says whose evidence each row is: one person's draws
        rest on the same random numbers.
        """
        uniforms = self.rng.random((int(person.max(initial=-1)) + 1, n_samples or self.n_samples, self.asked.size))
        made = self._independent if self.independent else self._sequential
        return made(evidence, label, person, uniforms)

    def _independent(self, evidence: IntArray, label: IntArray, person: IntArray, uniforms: FloatArray) -> IntArray:
        seen = evidence[:, None, self.asked]
        cumulated = self.model.likelihood_table(self.asked).cumsum(axis=1)  # (n_asked, V, n_classes)
        of_person = np.zeros(len(uniforms), dtype=np.intp)
        of_person[person] = label
        drawn = np.zeros(uniforms.shape, dtype=evidence.dtype)
        for outcome in range(cumulated.shape[1] - 1):
            level = cumulated[:, outcome][:, of_person].T[:, None]
            more = level <= uniforms * cumulated[:, -1][:, of_person].T[:, None]
            drawn += more & (outcome + 1 < self.model.n_outcomes_[self.asked])
        return np.where(seen >= 0, seen, drawn[person])

    def _sequential(self, evidence: IntArray, label: IntArray, person: IntArray, uniforms: FloatArray) -> IntArray:
        state = self.model.start(len(evidence))
        for feature in range(evidence.shape[1]):
            state = self.model.advance(feature, state, evidence[:, feature])
        row = np.repeat(np.arange(len(evidence)), uniforms.shape[1])
        state, label, levels = state[row], label[row], uniforms[person].reshape(len(row), -1)
        values = evidence[:, self.asked][row]
        for place, feature in enumerate(self.asked.tolist()):
            at = np.flatnonzero(values[:, place] < 0)
            shown = np.full(len(row), -1)
            if at.size:
                likelihood = self.model.stage_likelihood(feature, state[at])
                cumulated = likelihood[np.arange(at.size), :, label[at]].cumsum(axis=1)
                drawn = (cumulated <= levels[at, place, None] * cumulated[:, -1:]).sum(axis=1)
                shown[at] = np.minimum(drawn, likelihood.shape[1] - 1)
                values[at, place] = shown[at]
            state = self.model.advance(feature, state, shown)
        return values.reshape(len(evidence), uniforms.shape[1], -1)
