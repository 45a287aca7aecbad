"""The tree network beside pgmpy: structure, posteriors, likelihoods; preprocessing and classification as a whole.

    python benchmarks/tree.py [--json FILE] [--quick] [--full] [--repeats N] [--data DIR]

pgmpy's TreeSearch takes minutes at 200 features, which is left to ``--full``; its VariableElimination answers one row
at a time and is timed on some rows and scaled. Structures, posteriors and likelihoods of both sides are compared as
well: a difference ends the script.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, measure, parser, report
from _real import absent, add_data_option, data_folder, load
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.preprocessing import KBinsDiscretizer

import seqclass
from seqclass.bn import InformationFilter, TreeNetwork
from seqclass.discretize import Discretizer

#: Rows that VariableElimination is timed on.
VE_ROWS = 25


def correlated(rng: np.random.Generator, n: int, n_features: int, n_classes: int = 2, V: int = 4) -> tuple[Any, Any]:
    """Outcomes that follow an earlier feature, or the class."""
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, V, (n, n_features))
    for j in range(n_features):
        leader = y if j == 0 else X[:, rng.integers(0, j)]
        u = rng.random(n)
        X[:, j] = np.where(u < 0.5, leader, np.where(u < 0.65, y, X[:, j]))
    return X.astype(np.int8), y


def measurements(rng: np.random.Generator, n: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    """Gene-like data: blocks of correlated numbers, a tenth of which move with the class."""
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, n_features), dtype=np.float32)
    X += rng.standard_normal((n, n_features // 20 + 1), dtype=np.float32).repeat(20, axis=1)[:, :n_features]
    moved = rng.choice(n_features, n_features // 10, replace=False)
    X[:, moved] += rng.standard_normal((n_classes, len(moved)), dtype=np.float32)[y]
    return X, y


def frame(X: Any, y: Any) -> Any:
    import pandas as pd

    data = pd.DataFrame({f"x{j}": x.astype(int) for j, x in enumerate(X.T)})
    return data.assign(**{"class": y})


def tree_search(X: Any, y: Any) -> set[frozenset[str]]:
    """Edges between features of pgmpy's tree-augmented naive Bayes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.estimators import TreeSearch

        search = TreeSearch(frame(X, y), root_node="x0", n_jobs=1)
        dag = search.estimate(estimator_type="tan", class_node="class", show_progress=False)
    return {frozenset(edge) for edge in dag.edges if "class" not in edge}


def our_edges(X: Any, y: Any) -> set[frozenset[str]]:
    parents = TreeNetwork().fit(X, y).parents_
    return {frozenset((f"x{p}", f"x{j}")) for j, above in enumerate(parents) for p in above}


def structure(rng: np.random.Generator, sizes: list[int], repeats: int) -> list[Row]:
    rows = []
    tree_search(*correlated(rng, 50, 2))  # imports do not count
    for n_features in sizes:
        X, y = correlated(rng, 2000, n_features)
        theirs: list[set[frozenset[str]]] = []
        rows.append(
            measure(
                f"structure and parameters of {n_features} features, 2000 rows",
                lambda X=X, y=y: TreeNetwork().fit(X, y),
                peer="pgmpy TreeSearch, structure only",
                peer_call=lambda X=X, y=y, theirs=theirs: theirs.append(tree_search(X, y)),
                repeats=repeats,
                peer_repeats=0,
            )
        )
        if theirs[0] != our_edges(X, y):
            raise AssertionError(f"the trees of {n_features} features differ")
    return rows


class Elimination:
    """VariableElimination over some rows of evidence."""

    def __init__(self, model: TreeNetwork, evidence: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pgmpy.inference import VariableElimination

            self.engine = VariableElimination(model.to_pgmpy())
        self.known = [{f"x{j}": int(row[j]) for j in np.flatnonzero(row >= 0)} for row in evidence]
        self.classes = model.classes_.tolist()

    def posterior(self) -> Any:
        return np.array([self._ask("class", known) for known in self.known])

    def likelihoods(self, features: range) -> list[Any]:
        """P(outcome | evidence on the other features, class) of every feature, (rows, outcomes, classes)."""
        answers = []
        for j in features:
            others = [{name: v for name, v in known.items() if name != f"x{j}"} for known in self.known]
            tables = [[self._ask(f"x{j}", {**o, "class": c}) for c in self.classes] for o in others]
            answers.append(np.array(tables).transpose(0, 2, 1))
        return answers

    def _ask(self, node: str, evidence: dict[str, Any]) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.engine.query([node], evidence=evidence, show_progress=False).values


def inference(rng: np.random.Generator, n: int, n_features: int, repeats: int) -> list[Row]:
    X, y = correlated(rng, n, n_features)
    model = TreeNetwork().fit(X, y, n_outcomes=4)
    evidence = np.where(rng.random(X.shape) < 0.5, X, -1).astype(np.int8)
    few = min(VE_ROWS, n)
    engine = Elimination(model, evidence[:few])
    some = range(min(6, n_features))
    worst = np.abs(model.posterior(evidence[:few]) - engine.posterior()).max()
    ours = model.likelihoods(evidence[:few])
    worst = max(worst, *(np.abs(ours[:, j] - theirs).max() for j, theirs in zip(some, engine.likelihoods(some))))
    if worst > 1e-10:
        raise AssertionError(f"answers differ from VariableElimination's by {worst:g}")
    size = f"{n} rows, {n_features} features, half observed"
    return [
        measure(
            f"P(class | evidence), {size}",
            lambda: model.posterior(evidence),
            peer=f"pgmpy VariableElimination, {few} rows timed and scaled",
            peer_call=engine.posterior,
            repeats=repeats,
            peer_repeats=1,
            peer_scale=n / few,
        ),
        measure(
            f"P(feature | evidence, class) of every feature, {size}",
            lambda: model.likelihoods(evidence),
            peer=f"pgmpy VariableElimination, {few} rows x {len(some)} features timed and scaled",
            peer_call=lambda: engine.likelihoods(some),
            repeats=repeats,
            peer_repeats=0,
            peer_scale=n / few * n_features / len(some),
        ),
    ]


def ordinary_preprocessing(X: Any, y: Any, n_bins: int, kept: int) -> None:
    """The same steps from scikit-learn and pgmpy."""
    codes = KBinsDiscretizer(n_bins, encode="ordinal", strategy="uniform").fit_transform(X).astype(int)
    best = np.argsort([-adjusted_mutual_info_score(y, x) for x in codes.T])[:kept]
    edges = [tuple(edge) for edge in tree_search(codes[:, best], y)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.models import DiscreteBayesianNetwork
        from pgmpy.parameter_estimator import DiscreteBayesianEstimator

        network = DiscreteBayesianNetwork([*edges, *(("class", f"x{j}") for j in range(kept))])
        network.fit(frame(codes[:, best], y), estimator=DiscreteBayesianEstimator(prior_type="K2"))


def preprocessing(rng: np.random.Generator, n_features: int, repeats: int) -> list[Row]:
    X, y = measurements(rng, 57, n_features, 3)
    kept = min(30, n_features // 10)

    def ours() -> None:
        codes = Discretizer(4).fit_transform(X)
        TreeNetwork().fit(InformationFilter(n_features=kept).fit(codes, y).transform(codes), y)

    return [
        measure(
            f"discretise, filter to {kept}, structure, parameters: 57 x {n_features:,}, 3 classes",
            ours,
            peer="KBinsDiscretizer, adjusted_mutual_info_score, TreeSearch, K2 estimator",
            peer_call=lambda: ordinary_preprocessing(X, y, 4, kept),
            repeats=repeats,
            peer_repeats=0,
        )
    ]


def beside_naive_bayes(name: str, tree: Any, naive: Any, new: Any, repeats: int) -> Row:
    """Classify with both recipes; the name says what they buy and how many rows a second they serve."""
    row = measure(
        f"classify {len(new):,} rows, {name}",
        lambda: tree.predict(new),
        peer="etana",
        peer_call=lambda: naive.predict(new),
        repeats=repeats,
    )
    bought = [recipe.acquire(new[:1000]).n_features.mean() for recipe in (tree, naive)]
    speed = [len(new) / seconds for seconds in (row.ours_s, row.peer_s or np.inf)]
    more = f"{bought[0]:.1f} bought (etana {bought[1]:.1f}), {speed[0]:,.0f} rows/s (etana {speed[1]:,.0f})"
    return replace(row, name=f"{row.name}, {more}")


def classification(rng: np.random.Generator, n: int, kept: list[int], repeats: int) -> list[Row]:
    rows = []
    for number in kept:
        X, y = measurements(rng, 2000 + n, number * 2, 3)
        X, new, y = X[:2000], X[2000:], y[:2000]
        selector = InformationFilter(n_features=number)
        tree = seqclass.ifc2f(0.002, n_bins=4, selector=selector).fit(X, y)
        naive = seqclass.etana(0.002, n_bins=4, selector=selector).fit(X, y)
        rows.append(beside_naive_bayes(f"{number} features kept", tree, naive, new, repeats))
    return rows


def real_classification(sets: list[str], prices: list[float], n: int, repeats: int, folder: Path | None) -> list[Row]:
    """Rows of real data, drawn with replacement."""
    rows = []
    for name in sets:
        data = load(name, folder)
        if data is None:
            absent(name)
            continue
        X, y, _ = data
        new = X[np.random.default_rng(0).integers(0, len(X), n)]
        for price in prices:
            tree, naive = seqclass.ifc2f(price).fit(X, y), seqclass.etana(price).fit(X, y)
            rows.append(beside_naive_bayes(f"{name}, price {price}", tree, naive, new, repeats))
    return rows


def main() -> None:
    options = parser(__doc__)
    add_data_option(options)
    options.add_argument("--full", action="store_true", help="pgmpy's TreeSearch at 200 features too: minutes")
    arguments = options.parse_args()
    quick, repeats = arguments.quick, 1 if arguments.quick else arguments.repeats
    rng = np.random.default_rng(0)
    sizes = [6] if quick else [50, 100, 200] if arguments.full else [50, 100]
    rows = structure(rng, sizes, repeats)
    rows += inference(rng, *((20, 6) if quick else (1000, 30)), repeats)
    rows += preprocessing(rng, 60 if quick else 5848, repeats)
    n = 200 if quick else 100_000
    rows += classification(rng, n, [5] if quick else [30, 200], repeats)
    sets, prices = (["breast_cancer"], [0.01]) if quick else (["breast_cancer", "spambase", "digits"], [0.01, 0.001])
    rows += real_classification(sets, prices, n, repeats, data_folder(arguments))
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
