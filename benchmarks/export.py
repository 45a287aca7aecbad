"""Size of an exported policy, and the time that it takes for a question: on the page, and in C.

    python benchmarks/export.py [--json FILE] [--quick]

A class mixture, a tree over features, and a generated network ask in any order by information about the class, and stop
by regression. The page's script runs in node, where there is one, the C source as gcc -O2 compiles it; both answer all
questions one after the other, and a question is the mean over them. The peer is a session of ours in Python, which asks
the same.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _common import LEFT_OUT, Row, measure, parser, report

import seqclass.export
from seqclass import SequentialClassifier
from seqclass.bn import ClassMixture, NetworkTables, TreeNetwork
from seqclass.export import export_policy
from seqclass.pomdp import Adaptive, ClassInformation

#: Features, outcomes of each, and hidden states of both classes together.
SIZES = [(10, 8, 10), (30, 16, 40), (100, 16, 40), (30, 16, 200)]
_PAGE = Path(seqclass.export.__file__).parent / "policy.js"
#: Answers all questions, the n-th of them by outcome n, then n + 1, and so on; prints milliseconds a question.
_NODE = """
const fs = require("fs");
const policyOf = new Function(fs.readFileSync(process.argv[2], "utf8") + "; return policyOf;")();
const policy = policyOf(JSON.parse(fs.readFileSync(process.argv[3], "utf8")));
const { questions, features } = policy.data;
let began, n = 0;
for (let i = -1; i < Number(process.argv[4]); i++) {
  if (i === 0) began = performance.now();
  // each time other answers, as what was met before is remembered
  const shown = (q) => [(q + i + 1) % features[q].n_outcomes];
  const given = questions.map((_, q) => ({ question: q, outcomes: shown(q), known: false }));
  for (let k = 0; k < given.length; k++) { policy.stand(given.slice(0, k)); n += i >= 0; }
}
console.log((performance.now() - began) / n);
"""
_C = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "policy.c"
int main(int count, char **words)
{
    int i, q, times = count > 1 ? atoi(words[1]) : 1;
    double found = 0;
    clock_t began = clock();
    for (i = 0; i < times; i++) {
        seq_case c;
        seq_begin(&c);
        for (q = 0; q < SEQ_QUESTIONS; q++) {
            found += seq_question(&c) + seq_saving(&c);
            if (seq_answer(&c, q, q % seq_outcomes[q])) return 1;
        }
    }
    printf("%.9g %g", 1000.0 * (double)(clock() - began) / CLOCKS_PER_SEC / times / SEQ_QUESTIONS, found);
    return 0;
}
"""


def rule() -> Adaptive:
    """Information about the class, stopped by regression on few cases."""
    found = Adaptive([ClassInformation()], n_paths=100, exact_expectation=False, n_cases=50, certificate_paths=0)
    return found.set_params(max_rounds=0, search_nodes=0, max_nodes=0)


def tree(n_features: int, n_outcomes: int) -> SequentialClassifier:
    """Each feature is near the one before it in its class."""
    rng, n = np.random.default_rng(0), 3000
    y, X = rng.integers(0, 2, n), np.zeros((n, n_features))
    X[:, 0] = rng.integers(0, n_outcomes, n)
    for j in range(1, n_features):
        X[:, j] = np.clip(np.round(X[:, j - 1] + rng.normal(y, 2.0)), 0, n_outcomes - 1)
    X[0], X[1] = 0, n_outcomes - 1
    clf = SequentialClassifier(TreeNetwork(), discretizer="precomputed", order="adaptive", solver=rule())
    return clf.set_params(feature_costs=0.001).fit(X, y)


def network(n_nodes: int) -> SequentialClassifier:
    """Nodes of three states, each below two of the six before it; the first is sought."""
    rng = np.random.default_rng(0)
    parents = [rng.permutation(np.arange(max(j - 6, 0), j))[:2].tolist() for j in range(n_nodes)]
    tables = [np.moveaxis(rng.dirichlet(np.full(3, 0.5), (3,) * len(above)), -1, 0) for above in parents]
    names, states = [f"n{j}" for j in range(n_nodes)], [["a", "b", "c"]] * n_nodes
    drawn = NetworkTables(names, states, parents, tables)
    return SequentialClassifier.from_network(drawn, "n0", feature_costs=0.001, solver=rule())


def mixture(n_features: int, n_outcomes: int, n_hidden: int) -> SequentialClassifier:
    rng, n = np.random.default_rng(0), 40 * n_hidden
    kind = rng.integers(0, n_hidden, n)
    centre = rng.uniform(0, n_outcomes, (n_hidden, n_features))
    X = np.clip(np.round(centre[kind] + rng.normal(0, n_outcomes / 5, (n, n_features))), 0, n_outcomes - 1)
    X[0], X[1] = 0, n_outcomes - 1
    model = ClassMixture(n_hidden // 2, max_iter=20, random_state=0)
    clf = SequentialClassifier(model, discretizer="precomputed", order="adaptive", solver=rule(), feature_costs=0.001)
    return clf.fit(X, kind % 2)


def in_python(clf: SequentialClassifier) -> float:
    """Seconds a question of a session."""
    case, questions = clf.session(), clf.session().suggestions(9999)
    began = time.perf_counter()
    for number, question in enumerate(questions):
        case.suggestions(3)
        case.observe(question.name, question.categories[0] if question.categories else float(number % 2))
    return (time.perf_counter() - began) / len(questions)


def on_the_page(folder: Path, times: int) -> float:
    (folder / "run.js").write_text(_NODE)
    command = ["node", str(folder / "run.js"), str(_PAGE), str(folder / "policy.json"), str(times)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1000


def in_c(folder: Path, times: int) -> float:
    (folder / "main.c").write_text(_C)
    subprocess.run(["cc", "-std=c99", "-O2", "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
    told = subprocess.run([folder / "main", str(times)], capture_output=True, text=True, check=True).stdout
    return float(told.split()[0]) / 1000


def rows(told: str, clf: SequentialClassifier, times: int) -> list[Row]:
    peer = in_python(clf)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {"html": folder / "page.html", "json": folder / "policy.json", "c": folder / "policy.c"}
        data: dict[str, Any] = {kind: export_policy(clf, path, format=kind) for kind, path in paths.items()}["json"]
        assert data["kind"] == "program", json.dumps(data)[:200]
        kilobytes = {kind: path.stat().st_size // 1000 for kind, path in paths.items()}
        found = [measure(f"write the page, {told}", lambda: export_policy(clf, paths["html"]), repeats=min(times, 2))]
        for what, tool, kind, run in (("page", "node", "html", on_the_page), ("C", "cc", "c", in_c)):
            if shutil.which(tool) is None:
                print(f"{LEFT_OUT}{what}, since there is no {tool}")
                continue
            seconds = run(folder, times)
            name = f"a question, {what} of {kilobytes[kind]} kB, {told}"
            found.append(Row(name, seconds, "session in Python", peer, peer / seconds, None))
    return found


def main() -> None:
    arguments = parser(__doc__).parse_args()
    quick = arguments.quick
    sizes = [(5, 4, 4)] if quick else SIZES
    models = [("{} features, {} outcomes, {} hidden states".format(*one), mixture(*one)) for one in sizes]
    for shape in [(5, 4)] if quick else [(10, 8), (30, 16)]:
        models.append(("tree of {} features, {} outcomes".format(*shape), tree(*shape)))
    for nodes in [8] if quick else [37, 70]:
        models.append((f"network of {nodes} nodes", network(nodes)))
    report([row for told, clf in models for row in rows(told, clf, 1 if quick else 5)], arguments.json)


if __name__ == "__main__":
    main()
