"""The network of a model, with what was seen, and what each other feature would tell of the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray
from seqclass._utils.text import belief_text, near, short_repr
from seqclass._utils.validation import check_distribution, check_integer, in_order
from seqclass.agent.agent import agent_of, naming_of
from seqclass.bn import ObservationModel
from seqclass.plots._style import FAINT, NEUTRAL, Display, draw, draw_outline, outline_inches, shorten
from seqclass.pomdp.names import Naming
from seqclass.pomdp.solvers.ordering.rules import information_by_row


class NetworkDisplay(Display):
    """A network as a tree from top to bottom: a node is a row, below and to the right of its parent.

    Features that were seen are black squares with their values. The others are discs, coloured by what they would tell
    of the class now, in bits, which is written beside them. In a model in which the class is a parent of every feature
    all hangs from the class, and its other edges are left out. Where a node has several parents it hangs from the
    first, and arcs lead to the others. Make one with `from_estimator` or `from_model`.

    Parameters
    ----------
    model : ObservationModel
        A fitted model, such as `TreeNetwork` or `DiscreteNetwork`; in one without parents all hangs from the class.
    known : mapping of str or int to value, optional
        What was seen, by name or number of the feature; values as of ``naming``: names or numbers of outcomes.
    naming : Naming, optional
        Names of features, outcomes and classes; by default those that the model has.
    prior : array-like of shape (n_classes,), optional
        P(class) before anything is seen; by default the model's.
    max_features : int
        Most features to show: those that were seen, those that would tell most, and what these hang from.

    Attributes
    ----------
    information : ndarray of shape (n_features,)
        I(class; feature | what was seen) in bits; NaN of what was seen.
    posterior : ndarray of shape (n_classes,)
        P(class | what was seen).
    labels : list of str
        What is written at each row.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Raises
    ------
    TypeError
        If ``model`` is no fitted observation model.
    ValueError
        If a feature or outcome does not exist, or what was seen is impossible.

    Examples
    --------
    >>> from seqclass.bn import TreeNetwork
    >>> model = TreeNetwork().fit([[0, 0], [1, 1], [1, 0], [0, 0]], ["ill", "well", "well", "ill"])
    >>> display = NetworkDisplay.from_model(model, {0: 1})
    >>> display.labels
    ['class: ill 25.0%, well 75.0%', 'feature 0 = 1', 'feature 1, 0.000']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        model: ObservationModel,
        known: Mapping[Any, Any] | None = None,
        *,
        naming: Naming | None = None,
        prior: npt.ArrayLike | None = None,
        max_features: int = 60,
    ) -> None:
        if not isinstance(model, ObservationModel) or not hasattr(model, "n_outcomes_"):
            raise TypeError(f"model must be a fitted ObservationModel, such as TreeNetwork, got {short_repr(model)}.")
        naming = _naming(model) if naming is None else naming
        self.n_features, sizes = model.n_features_in_, model.n_outcomes_.tolist()
        called = [naming.feature(j) for j in range(self.n_features)]
        seen: dict[int, int] = {}
        for name, value in ({} if known is None else known).items():
            if name not in called and not (isinstance(name, (int, np.integer)) and 0 <= name < len(called)):
                raise ValueError(
                    f"known: {short_repr(name)} is no feature of the model; {near(name, called, 'they are')}"
                )
            feature = called.index(name) if name in called else int(name)
            seen[feature] = naming.code(feature, value, sizes[feature])
        named = in_order(prior, "prior", model.classes_)
        prior = model.class_prior_ if prior is None else check_distribution(named, len(model.classes_), "prior")
        self.posterior, self.information = _ask(model, np.asarray(prior), seen, called)
        names, parents, features, targets = model._graph(called)
        telling = np.argsort(-np.nan_to_num(self.information, nan=np.inf), kind="stable")  # what was seen comes first
        shown = telling[: max(check_integer(max_features, "max_features", 1), len(seen))]
        nodes, depths = _rows(parents, {features.index(j) for j in shown.tolist()} | targets)
        place = {node: row for row, node in enumerate(nodes)}
        self._arcs = [(place[i], place[j]) for j in nodes for i in parents[j][1:] if i in place]
        self._features, self._seen = np.array([features[node] for node in nodes]), list(seen)
        self.labels = [shorten(names[node], 36) for node in nodes]
        for row, (node, feature) in enumerate(zip(nodes, self._features.tolist())):
            if feature in seen:
                value = naming.shows(feature, sizes[feature])[seen[feature]] if seen[feature] >= 0 else "missing"
                self.labels[row] += f" = {shorten(value, 20)}"
            elif feature >= 0:
                self.labels[row] += f", {self.information[feature]:.3f}"
            elif node in targets:
                self.labels[row] += f": {belief_text(naming.classes, self.posterior.tolist())}"
        above = [place[parents[node][0]] if parents[node] else -1 for node in nodes]
        self._rows = list(zip(above, depths, self.labels))

    @classmethod
    def from_model(
        cls, model: ObservationModel, known: Mapping[Any, Any] | None = None, **settings: Any
    ) -> NetworkDisplay:
        """Draw a model.

        Parameters
        ----------
        model : ObservationModel
            A fitted model.
        known : mapping of str or int to value, optional
            What was seen, by name or number of the feature; values are names or numbers of outcomes.
        **settings
            ``ax`` and ``title`` as of `plot`, all others as of `NetworkDisplay`.

        Returns
        -------
        NetworkDisplay
        """
        return draw(cls, model, known, **settings)

    @classmethod
    def from_estimator(
        cls, estimator: BaseSequentialClassifier, known: Mapping[Any, Any] | None = None, **settings: Any
    ) -> NetworkDisplay:
        """Draw the model of a fitted classifier.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier.
        known : mapping of str or int to value, optional
            What was seen, by name or number of a column, as raw values or categories.
        **settings
            Passed to `from_model`.

        Returns
        -------
        NetworkDisplay
        """
        agent = agent_of(estimator)
        by_name = {j if isinstance(j, str) else estimator.feature_name(j): v for j, v in dict(known or {}).items()}
        own = {"naming": naming_of(agent), "prior": agent.problem.prior}
        return cls.from_model(agent.model, by_name, **(own | settings))

    def _inches(self) -> tuple[float, float]:
        return outline_inches(self._rows) + 1.2, max(1.0 + 0.26 * len(self._rows), 2.6)

    def _title(self) -> str | None:
        n = int((self._features >= 0).sum())
        return f"{n} of {self.n_features} features" if n < self.n_features else None

    def _draw(self, ax: Any) -> None:
        from matplotlib.patches import FancyArrowPatch

        row, depth = np.arange(len(self._rows)), np.array([x for _, x, _ in self._rows])
        for i, j in self._arcs:
            style: dict[str, Any] = {
                "arrowstyle": "-|>",
                "mutation_scale": 8,
                "color": FAINT,
                "linewidth": 0.8,
                "zorder": 0,
            }
            bend = f"arc3,rad={0.3 if i > j else -0.3}"
            ax.add_patch(FancyArrowPatch((depth[i], i), (depth[j], j), connectionstyle=bend, **style))
        draw_outline(ax, self._rows)
        known, node = np.isin(self._features, self._seen), self._features >= 0
        ax.scatter(depth[known], row[known], marker="s", s=45, color="black", zorder=2)
        ax.scatter(depth[~node], row[~node], marker="D", s=40, color=NEUTRAL, zorder=2)
        if (rest := node & ~known).any():
            style = {"cmap": "viridis_r", "vmin": 0.0, "edgecolors": "black", "linewidths": 0.6, "zorder": 2}
            dots = ax.scatter(depth[rest], row[rest], c=self.information[self._features[rest]], s=55, **style)
            shrink = min(1.0, 2.4 / self._inches()[1])
            bar = ax.figure.colorbar(dots, ax=ax, shrink=shrink, anchor=(0.0, 1.0), aspect=15)
            bar.set_label("bits it would tell of the class", fontsize=8)


def _naming(model: ObservationModel) -> Naming:
    """What a model itself calls its parts."""
    features, shows = model._own_names()
    return Naming(tuple(map(str, features or ())), tuple(shows), tuple(map(str, model.classes_.tolist())))


def _ask(
    model: ObservationModel, belief: FloatArray, seen: Mapping[int, int], names: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """P(class | what was seen), and what each feature would tell now, in bits; NaN of what was seen."""
    state = model.start(1)
    for feature, outcome in seen.items():
        if outcome >= 0:
            belief = belief * np.asarray(model.stage_likelihood(feature, state))[0, outcome]
            if not belief.sum() > 0:
                raise ValueError(f"known: {names[feature]} has probability zero given what comes before it.")
            belief = belief / belief.sum()
        state = model.advance(feature, state, np.array([outcome]))
    open_, information = np.setdiff1d(np.arange(len(names)), list(seen)), np.full(len(names), np.nan)
    if open_.size:
        nats = information_by_row(belief[None], np.asarray(model.stage_likelihoods(open_, state)))[0]
        information[open_] = np.maximum(nats / np.log(2), 0.0)
    return belief, information


def _rows(parents: Sequence[Sequence[int]], wanted: set[int]) -> tuple[list[int], list[int]]:
    """Nodes from top to bottom with how deep they hang: those that are wanted, and what they hang from."""
    kept: set[int] = set()
    for node in wanted:
        while node not in kept:
            kept.add(node)
            node = parents[node][0] if parents[node] else node
    below: dict[int, list[int]] = {}
    for node in sorted(kept, reverse=True):
        below.setdefault(parents[node][0] if parents[node] else -1, []).append(node)
    nodes, depths, todo = list[int](), list[int](), [(node, 0) for node in below[-1]]
    while todo:
        node, depth = todo.pop()
        nodes.append(node)
        depths.append(depth)
        todo += [(child, depth + 1) for child in below.get(node, ())]
    return nodes, depths
