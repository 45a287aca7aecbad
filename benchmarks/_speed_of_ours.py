"""What ``speed.py`` measures of ours, in a process of its own: of this checkout, and of an earlier one."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: Iterations of EM that are timed; cases that are played; answers of a query.
ITERATIONS, N_CASES, N_SEEN = 20, 40, 5
#: Files of DDXPlus.
DDXPLUS = ("patients.csv", "evidences.json", "conditions.json")


def forget(agent: Any) -> None:
    """Have an agent keep no history, as if it had met no case."""
    for first in getattr(vars(agent).get("_live_case_parts", {}).get("histories"), "_first", {}).values():
        first.after.clear()


def symptoms(n_questions: int, n_classes: int, n: int = 3000) -> tuple[Any, Any]:
    """Rows of yes and no, each as likely as its class has it."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    return (rng.random((n, n_questions)) < rng.beta(0.5, 0.9, (n_classes, n_questions))[y]).astype(float), y


def drawn(n_questions: int, n_classes: int, n: int = 2000) -> tuple[Any, Any]:
    """Rows whose classes differ a little in each column."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, n_questions)) + 0.5 * rng.normal(size=(n_classes, n_questions))[y], y


def cpu(call: Callable[[], Any], runs: int) -> float:
    """Seconds of the processor, the least of some runs."""
    least = np.inf
    for _ in range(runs):
        began = time.process_time()
        call()
        least = min(least, time.process_time() - began)
    return float(least)


class Ours:
    """What is measured in a checkout; each method gives seconds, and answers to compare."""

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}
        self.folder = tempfile.TemporaryDirectory()

    def fitted(self, n_questions: int, n_classes: int, kind: str, folder: str = "") -> tuple[Any, Any, list[Any]]:
        """A classifier, rows as it takes them, and of each what is known at the start."""
        key = n_questions, n_classes, kind
        if key not in self.kept:
            self.kept[key] = diagnoses(folder) if folder else fit(n_questions, n_classes, kind)
        return self.kept[key]  # type: ignore[no-any-return]

    def predict(self, run: int, met: bool, *case: Any) -> tuple[float, Any]:
        """One row after the other, of which nothing is kept, or each of which was met just before."""
        clf, X, _ = self.fitted(*case)
        clf.predict(X[:1])
        answers, seconds = [], 0.0
        for i in range(N_CASES):
            forget(clf.agent_)
            if met:
                clf.predict(X[i : i + 1])
            began = time.process_time()
            decided = clf.predict(X[i : i + 1])
            seconds += time.process_time() - began
            answers.append(str(decided[0]))
        return seconds / N_CASES, answers

    def session(self, run: int, *case: Any) -> tuple[float, Any]:
        """Live cases that begin, with what is known at the start."""
        clf, _, known = self.fitted(*case)
        clf.session(known=known[0]).next_feature  # noqa: B018 - which works out what all cases share
        return cpu(lambda: clf.session(known=known[0]), 20), clf.session(known=known[0]).next_feature.name

    def answer(self, run: int, met: bool, *case: Any) -> tuple[float, Any]:
        """An answer of a live case, and what is asked next."""
        clf, X, known = self.fitted(*case)
        found, n, seconds = [], 0, 0.0
        for i in range(N_CASES):
            row = X.iloc[i].to_numpy() if hasattr(X, "iloc") else X[i]
            for timed in (False, True) if met else (True,):
                if timed is not met:
                    forget(clf.agent_)
                live = clf.session(known=known[i])
                question, before = live.next_feature, len(live.history)
                began = time.process_time()
                while question is not None:
                    tell(live, question, row)
                    question = live.next_feature
            seconds += time.process_time() - began
            n += len(live.history) - before
            found.append([live.posterior.tolist(), [a.expected_saving for a in live.history]])
        return seconds / n, found

    def command(self, run: int, *words: str) -> tuple[float, Any]:
        """A command in a process of its own, with the model of this checkout."""
        folder = Path(self.folder.name)
        if not (model := folder / "model").exists():
            import pandas as pd

            from seqclass import SequentialClassifier

            X, y = drawn(30, 2, 1000)
            frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(30)])
            SequentialClassifier(feature_costs=0.01).fit(frame, y).save(model)
            frame[:10].to_csv(folder / "ten.csv", index=False)
            self.command(run, *words)  # which compiles the files
        files = [str(model), *([str(folder / "ten.csv")] if words[0] == "predict" else [])]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # bytecode may be written, as an installation has it
        places = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {
            "PYTHONPYCACHEPREFIX": str(folder)
        }
        command = [sys.executable, "-m", "seqclass", words[0], *files]
        told = subprocess.run(command, check=True, capture_output=True, text=True, env=places).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, told if words[0] == "predict" else None

    def mixture(self, run: int, bins: int, n: int = 2000) -> tuple[float, Any]:
        """Iterations of EM, of 2 x 8 components."""
        from seqclass.bn import ClassMixture

        rng = np.random.default_rng(0)
        X, y = rng.integers(bins, size=(n, 30)), rng.integers(2, size=n)
        warnings.simplefilter("ignore")  # that so few iterations are not enough
        mixture = ClassMixture(8, max_iter=ITERATIONS, tol=0.0, random_state=0)
        seconds = cpu(lambda: mixture.fit(X, y), 2) / ITERATIONS
        return seconds, mixture.posterior(X[:20]).tolist()

    def many(self, run: int, price: float, n: int = 20_000) -> tuple[float, Any]:
        """Rows of a mixture in any order, 2 x 8 components, 30 questions of 16 outcomes; and questions asked."""
        from seqclass.pomdp import Adaptive, ClassInformation, MixtureProblem, acquire

        if price not in self.kept:
            rng = np.random.default_rng(0)
            centre, grid = 8 + 1.5 * rng.normal(size=(30, 1, 16)), np.arange(16)[None, :, None]
            tables = np.exp(-(((grid - centre) / 3.5) ** 2) / 2) + 0.01
            tables /= tables.sum(axis=1, keepdims=True)
            problem = MixtureProblem(np.full(16, 1 / 16), np.repeat([0, 1], 8), tables, price, any_order=True)
            settings = {"n_paths": 200, "n_cases": 200, "certificate_paths": 0, "search_nodes": 0, "max_rounds": 0}
            policy = Adaptive([ClassInformation()], **settings).solve(problem)
            state, chance = rng.integers(16, size=n), rng.random((n, 30))
            codes = [(chance[:, [j]] > tables[j].cumsum(axis=0)[:-1, state].T).sum(axis=1) for j in range(30)]
            self.kept[price] = policy, np.stack(codes, axis=1)
        policy, codes = self.kept[price]
        acquired = acquire(policy, codes)
        asked = (acquired.leaf_question >= 0).sum(axis=1)[acquired.leaf].mean()
        return cpu(lambda: acquire(policy, codes), 1) / n, [float(asked), acquired.leaf_belief[acquired.leaf].tolist()]

    def network(self, run: int, file: str, target: str, n: int) -> tuple[float, Any]:
        """A row of a batch of queries; of one alone the median of new ones, as what one was told is kept for others."""
        if file not in self.kept:
            from seqclass.bn import DiscreteNetwork

            model = DiscreteNetwork.from_file(file, [target])
            self.kept[file] = model, seen_of(model, 400)[0]
        model, codes = self.kept[file]
        if n == 1:
            codes = codes[20 * run :][:20]
            seconds = [cpu(lambda row=row: model.posterior(row[None]), 1) for row in codes]
            return float(np.median(seconds)), model.posterior(codes).tolist()
        codes = codes[:n]
        belief = model.posterior(codes)
        return cpu(lambda: model.posterior(codes), 1) / len(codes), belief.tolist()


def fit(n_questions: int, n_classes: int, kind: str) -> tuple[Any, Any, list[Any]]:
    """A classifier of a kind; nothing is known at the start."""
    from seqclass import SequentialClassifier, adaptive, ifc2f
    from seqclass.bn import ClassMixture, NaiveBayes
    from seqclass.pomdp import Adaptive, ClassInformation

    warnings.simplefilter("ignore")
    if kind == "yes or no, any order":
        solver = Adaptive([ClassInformation()], certificate_paths=0, max_rounds=0)
        settings: Any = {"order": "adaptive", "feature_costs": 0.003, "max_features": 12, "max_candidates": None}
        X, y = symptoms(n_questions, n_classes)
        clf: Any = SequentialClassifier(NaiveBayes(alpha=0.3), solver, **settings)
    else:
        X, y = drawn(n_questions, n_classes, 600 if kind == "adaptive, quick" else 2000)
        any_order = {"feature_costs": 0.01, "order": "adaptive"}
        clf = {
            "one order": lambda: SequentialClassifier(feature_costs=0.01),
            "any order": lambda: SequentialClassifier(**any_order),
            "adaptive, quick": lambda: adaptive(0.01, effort="quick"),
            "tree network, one order": lambda: ifc2f(0.01),
            "class mixture, any order": lambda: SequentialClassifier(ClassMixture(4, random_state=0), **any_order),
        }[kind]()
    return clf.fit(X, y), X, [{}] * len(X)


def diagnoses(folder: str) -> tuple[Any, Any, list[Any]]:
    """DDXPlus as in `interviews.py`: rows of the first fold."""
    from interviews import ClassInformation, Costs, StratifiedKFold, load_interviews, method

    patients, evidences, conditions = (Path(folder) / f"ddxplus_{part}.gz" for part in DDXPLUS)
    data = load_interviews(patients, evidences=evidences, conditions=conditions)
    train, test = next(iter(StratifiedKFold(5, shuffle=True, random_state=0).split(data.y, data.y)))
    clf = method(data, 0.1, 0.003, ClassInformation(), None, feature_costs=Costs(0.003, bundles=data.bundles))
    X = data.X.iloc[test[:N_CASES]]
    return clf.fit(data.X.iloc[train], data.labels[train]), X, X[list(data.known)].to_dict("records")


def tell(live: Any, question: Any, row: Any) -> None:
    """Answer what was asked, of a bundle what is there."""
    if question.features:
        there = {one.name: row[one.column] for one in question.features if row[one.column] == row[one.column]}
        live.observe(question.name, there) if there else live.unavailable(question.name)
    elif row[question.column] == row[question.column]:
        live.observe(question.name, row[question.column])
    else:
        live.unavailable(question.name)


def seen_of(model: Any, n: int) -> tuple[Any, Any]:
    """Rows that have seen five answers each, and those that they are drawn from."""
    rng, rows = np.random.default_rng(0), model.sample(n, 0)[0]
    codes = np.full(rows.shape, -1)
    for code, row in zip(codes, rows):
        some = rng.choice(len(row), min(N_SEEN, len(row)), replace=False)
        code[some] = row[some]
    return codes, rows


def serve() -> None:
    """Measure what is asked for on standard input."""
    ours = Ours()
    for line in sys.stdin:
        what, *arguments = json.loads(line)
        print(json.dumps(getattr(ours, what)(*arguments)), flush=True)


if __name__ == "__main__":
    serve()
