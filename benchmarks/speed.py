"""One case, the start of commands, mixtures, and networks in batches: seconds before a change, after it, and of peers.

    python benchmarks/speed.py [--json FILE] [--page FILE] [--quick] [--repeats N] [--before PATH] [--data DIR]
        [--networks NAME ...] [--cases-only]

Seconds are those of the processor. Ours are measured in a process of its own; with ``--before``, a checkout of an
earlier commit, the same is measured there in another one, in turns, and answers have to be the same to 1e-9. A case is
played from the first question to the decision; a row is one answer. Histories of cases are kept: a *new* row or case is
one of which none is, a *known* one was met just before. ``session()`` is that of the second case, as a service has it,
with what is known at the start. ``--page`` writes what is printed as Markdown. Peers are scikit-learn's naive Bayes on
outcomes that are there already, bare numpy (Bayes' rule of one answer), ``import sklearn.base``, and, where it is
installed, pyAgrum's lazy propagation of a single query: the target's posterior given five answers at random, of which
ours alone is the median of 20 new ones. Networks are those that pgmpy comes with. DDXPlus is that of `interviews.py`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, left_out, parser, report
from _real import add_data_option, data_folder
from _speed_of_ours import cpu, drawn, seen_of

NETWORKS = {
    "child": "Disease",
    "alarm": "LVFAILURE",
    "hepar2": "Cirrhosis",
    "win95pts": "PTROFFLINE",
    "insurance": "Accident",
    "hailfinder": "R5Fcst",
    "pathfinder": "Fault",
    "andes": "NEED36",
}
#: Questions, classes and kind of the classifiers whose cases are played.
CASES = (
    *((n, 2, "one order") for n in (30, 100, 300, 700)),
    *(
        (30, 2, kind)
        for kind in ("any order", "adaptive, quick", "tree network, one order", "class mixture, any order")
    ),
    (266, 90, "yes or no, any order"),
)
QUICK = ((6, 2, "one order"),)
DDXPLUS = (223, 49, "DDXPlus, any order")
#: Bins of the mixtures, and rows of a batch of queries.
BINS, N_ROWS = (5, 8, 16), 400
#: Questions that are asked of a mixture in any order, and the price at which they are.
MANY = ((3, 0.02), (6, 0.012), (12, 0.006), (20, 0.0002))
#: What is timed of each case.
TASKS = (
    "predict of a new row",
    "predict of a known row",
    "session()",
    "an answer of a new case",
    "an answer of a known case",
)
QUERIES = ("a query alone", f"a query of a batch of {N_ROWS}")
SHOW = "show, 1000 x 30"
PREDICT = "predict of ten rows, 1000 x 30"


class Checkout:
    """A process that measures the package of a checkout."""

    def __init__(self, root: Path) -> None:
        places = os.environ | {"PYTHONPATH": str(root / "src")}
        script = Path(__file__).with_name("_speed_of_ours.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=places
        )

    def __call__(self, what: str, *arguments: Any) -> tuple[float, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None  # noqa: PT018 - they are pipes
        self.process.stdin.write(json.dumps([what, *arguments]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{what} {arguments} failed")
        seconds, answers = json.loads(line)
        return seconds, answers

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def same(ours: Any, others: Any) -> bool:
    """Whether answers are equal to 1e-9."""
    if isinstance(ours, list):
        return isinstance(others, list) and len(ours) == len(others) and all(map(same, ours, others))
    if isinstance(ours, float):
        return bool(np.isclose(ours, others, rtol=0, atol=1e-9, equal_nan=True))
    return bool(ours == others)


class Table:
    """Rows that are measured in turns."""

    def __init__(self, after: Checkout, before: Checkout | None, repeats: int) -> None:
        self.after, self.before, self.repeats, self.rows = after, before, repeats, list[Row]()

    def add(self, name: str, what: str, *arguments: Any, peers: dict[str, Callable[[], Any]] | None = None) -> None:
        """Ours, ours before and peers, the least of the repeats; a peer's call gives its seconds."""
        least: dict[str, float] = {}
        for run in range(self.repeats):
            seconds, answers = self.after(what, run, *arguments)
            found = {"ours": seconds}
            if self.before is not None:
                found["ours before"], others = self.before(what, run, *arguments)
                if not same(answers, others):
                    raise AssertionError(f"{name}: answers differ from those before")
            found |= {peer: call() for peer, call in (peers or {}).items()}
            least = {key: min(least.get(key, np.inf), value) for key, value in found.items()}
        ours = least.pop("ours")
        for peer, value in least.items():
            self.rows.append(Row(name, ours, peer, value, value / ours, None))
        if not least:
            self.rows.append(Row(name, ours, None, None, None, None))
        print(*(f"{name}: {ours:.4g} s, {peer} {value:.4g}" for peer, value in least.items()), sep="\n", flush=True)


def naive_bayes(n_questions: int, n_classes: int) -> dict[str, Callable[[], float]]:
    """Prediction of one row by scikit-learn's naive Bayes."""
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    X, y = drawn(n_questions, n_classes)
    codes = np.clip(np.digitize(X, [-1.5, -0.5, 0.5, 1.5]), 0, 4)
    fitted = ((GaussianNB().fit(X, y), X), (CategoricalNB(min_categories=5).fit(codes, y), codes))

    def timed(model: Any, rows: Any) -> Callable[[], float]:
        return lambda: cpu(lambda: model.predict(rows[:1]), 20)

    return {f"{type(model).__name__}.predict": timed(model, rows) for model, rows in fitted}


def bare_numpy(n_classes: int) -> Callable[[], float]:
    """Bayes' rule of one answer."""
    likelihood, belief = np.full((5, n_classes), 0.2), np.full(n_classes, 1 / n_classes)

    def update() -> Any:
        joint = likelihood[3] * belief
        return (joint / joint.sum()).argmax()

    return lambda: cpu(update, 50)


def import_sklearn() -> float:
    """Seconds of ``import sklearn.base`` in a process of its own."""
    code = "import time; start = time.process_time(); import sklearn.base; print(time.process_time() - start)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def pyagrum_query(file: Path, target: str, model: Any) -> dict[str, Callable[[], float]]:
    """A single query of pyAgrum's, the median of 20; nothing where it is not installed or cannot read the file."""
    name = next((name for name in ("pyagrum", "pyAgrum") if importlib.util.find_spec(name)), None)
    if name is None:
        return {}
    gum, (codes, _) = importlib.import_module(name), seen_of(model, 20)
    import gzip

    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "network.bif"
        plain.write_bytes(gzip.decompress(file.read_bytes()))
        try:
            network = gum.loadBN(str(plain))
        except gum.GumException:  # as of a state with a slash in its name
            return {}
    told = [{model.questions_[k]: str(model.outcomes_[k][row[k]]) for k in np.flatnonzero(row >= 0)} for row in codes]

    def query(evidence: dict[str, str]) -> float:
        engine = gum.LazyPropagation(network)
        engine.setEvidence(evidence)
        engine.setTargets({target})

        def ask() -> Any:
            engine.makeInference()
            return engine.posterior(target)

        return cpu(ask, 1)

    return {"pyAgrum, a single query": lambda: float(np.median([query(evidence) for evidence in told]))}


def network_file(name: str) -> Path | None:
    """File of a network that pgmpy comes with."""
    if (found := importlib.util.find_spec("pgmpy")) is None or found.origin is None:
        return None
    file = Path(found.origin).parent / "utils" / "example_models" / f"{name}.bif.gz"
    return file if file.is_file() else None


def measure(table: Table, given: Any) -> None:
    """Measure all rows."""
    cases: list[tuple[Any, ...]] = [*(QUICK if given.quick else CASES)]
    folder = data_folder(given)
    if folder is not None and (folder / "interviews" / "ddxplus_patients.csv.gz").exists() and not given.quick:
        cases.append((*DDXPLUS, str(folder / "interviews")))
    else:
        left_out("DDXPlus", "its files are not in the folder of the data, or the run is a quick one")
    for case in cases:
        said = f"{case[2]}, {case[0]} questions, {case[1]} classes"
        numbers = naive_bayes(*case[:2]) if case[1] == 2 else {}
        table.add(f"predict of a new row, {said}", "predict", False, *case, peers=numbers)
        table.add(f"predict of a known row, {said}", "predict", True, *case)
        table.add(f"session(), {said}", "session", *case)
        bare = {"bare numpy": bare_numpy(case[1])}
        table.add(f"an answer of a new case, {said}", "answer", False, *case, peers=bare)
        table.add(f"an answer of a known case, {said}", "answer", True, *case)
    for name, words in () if given.quick else ((SHOW, "show"), (PREDICT, "predict")):
        table.add(f"seqclass {name}", "command", words, peers={"import sklearn.base": import_sklearn})
    if given.cases_only:
        return
    for bins in BINS[:1] if given.quick else BINS:
        table.add(f"an iteration of EM, 2000 x 30, 2 x 8 components, {bins} bins", "mixture", bins)
    for asked, price in () if given.quick else MANY:
        table.add(f"a row of a mixture in any order, 2 x 8 components, about {asked} asked", "many", price)
    for name in [] if given.quick else given.networks:
        if (file := network_file(name)) is None:
            left_out(name, "pgmpy, which has the network, is not installed")
            continue
        from seqclass.bn import DiscreteNetwork

        peers = pyagrum_query(file, NETWORKS[name], DiscreteNetwork.from_file(file, [NETWORKS[name]]))
        if not peers:
            left_out(f"{name} beside pyAgrum", "it is not installed, or cannot read the file")
        for n, what in zip((1, N_ROWS), QUERIES):
            table.add(f"{what}, {name}", "network", str(file), NETWORKS[name], n, peers=peers)


def page(rows: list[Row]) -> str:
    """Tables in Markdown, of cases, queries and all else: milliseconds, in brackets those before; the quickest peer."""
    kinds = {TASKS: "case", QUERIES: "network", ("",): "what"}
    found: dict[tuple[str, ...], dict[str, dict[str, str]]] = {columns: {} for columns in kinds}
    peers: dict[str, tuple[float, str]] = {}
    for row in rows:
        task = next((task for task in (*TASKS, *QUERIES) if row.name.startswith(f"{task}, ")), "")
        name = row.name.removeprefix(f"{task}, ")
        columns = next(columns for columns in kinds if task in columns)
        cells = found[columns].setdefault(name, {})
        cells.setdefault(task, f"{1e3 * row.ours_s:.3g}")
        if row.peer_s is None:
            continue
        if row.peer == "ours before":
            cells[task] += f" ({1e3 * row.peer_s:.3g})"
        elif task == columns[0]:
            peers[name] = min(peers.get(name, (np.inf, "")), (row.peer_s, f"{row.peer} {1e3 * row.peer_s:.3g}"))
    tables = []
    for columns, kind in kinds.items():
        if not found[columns]:
            continue
        lines = [[kind, *(column or "ms" for column in columns), "peer of the first figure"]]
        lines += [["---"] * len(lines[0])]
        for name, cells in found[columns].items():
            lines.append([name, *(cells.get(column, "") for column in columns), peers.get(name, (0.0, ""))[1]])
        tables.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(tables) + "\n"


def main() -> None:
    arguments = parser(__doc__)
    add_data_option(arguments)
    arguments.add_argument("--page", metavar="FILE", type=Path, help="write the rows to FILE as Markdown")
    arguments.add_argument("--cases-only", action="store_true", help="neither mixtures nor networks")
    arguments.add_argument("--before", metavar="PATH", type=Path, help="checkout of an earlier commit")
    arguments.add_argument("--networks", metavar="NAME", nargs="*", default=list(NETWORKS), help="these alone")
    given = arguments.parse_args()
    if given.before is None:
        left_out("ours before", "no checkout of an earlier commit was given by --before")
    roots = [Path(__file__).resolve().parents[1], *([] if given.before is None else [given.before.resolve()])]
    with ExitStack() as stack:
        ours = [stack.enter_context(closing(Checkout(root))) for root in roots]
        table = Table(ours[0], ours[1] if len(ours) > 1 else None, 1 if given.quick else given.repeats)
        measure(table, given)
    if given.page is not None:
        given.page.write_text(page(table.rows), encoding="utf-8")
    report(table.rows, given.json)


if __name__ == "__main__":
    main()
