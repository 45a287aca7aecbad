"""Interviews of symptom checkers: how well, after how many questions, and what planning with the start gives.

    python benchmarks/interviews.py [--data DIR] [--sets dxy mz4 symcat million ddxplus] [--most N] [--json FILE]
        [--quick]

The publishers' test rows of Dxy, MuZhi-4 and SymCat (files ``interviews/NAME.npz`` of the folder). What a patient
volunteers is known at the start; smoothing, ordering rule and price are chosen by cross-validated accuracy on training
rows alone, at no more than N questions (10). Told are accuracy and the share of the symptoms in a record that were
asked for, by the number of questions; a support-vector machine given nothing but what was volunteered, and every
answer; and, row by row on the test rows, what planning from nothing and being told the same costs more. Large sets
take one setting, and a random forest beside it. ``million`` is generated: a million patients with one of 49 diseases,
who have or have not 223 symptoms, learnt by chunks; and the sets of diseases that lack the true one in 5% of cases.
``ddxplus`` (``interviews/ddxplus_patients.csv.gz``, ``ddxplus_evidences.json.gz`` and ``ddxplus_conditions.json.gz``)
takes one setting at four prices, on five folds: accuracy, questions, the share of what a patient has that was asked for
(the first complaint left out), and recall, precision and F1 of the differential (DDR, DDP, DDF1 of Fansi Tchango et
al. 2022: diseases of probability above .01 here and in the file). ``on the differential`` learns each row as every
disease of its differential, weighted by its probability, as the published agents do. ``severe`` decides with missing a
disease of severity 1 or 2 as five errors.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _common import left_out, parser, write_json
from _real import add_data_option, data_folder
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from seqclass import Costs, SequentialClassifier, certify_differential, certify_error
from seqclass.bn import NaiveBayes
from seqclass.datasets import load_interviews
from seqclass.datasets.interviews import Interviews
from seqclass.pomdp import Adaptive, ClassInformation, ExpectedSaving
from seqclass.stats import paired_t_test

ALPHAS, PRICES = (1.0, 0.3, 0.1), (0.01, 0.003, 0.001)
#: With more training rows one setting is taken as it is.
LARGE = 10_000
DDXPLUS_PRICES = (0.01, 0.003, 0.001, 0.0003)
BUDGETS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)


def method(data: Interviews, alpha: float, price: float, rule: Any, most: int, **known: Any) -> SequentialClassifier:
    solver = Adaptive([rule], certificate_paths=0, max_rounds=0)
    settings = {"order": "adaptive", "feature_costs": price, "known": data.known, "max_candidates": None} | known
    return SequentialClassifier(NaiveBayes(alpha=alpha), solver, max_features=most, **settings)


def chosen(data: Interviews, most: int) -> tuple[dict[str, Any], float | None]:
    """Settings of the best accuracy on folds of the training rows, the first among equals; and that accuracy."""
    rows = data.train_index
    if len(rows) > LARGE:
        return {"alpha": 0.3, "price": 0.003, "rule": ClassInformation()}, None
    tried = [
        (alpha, price, rule) for rule in (ClassInformation(), ExpectedSaving()) for alpha in ALPHAS for price in PRICES
    ]
    right = np.zeros(len(tried))
    for fit, held in StratifiedKFold(5, shuffle=True, random_state=0).split(rows, data.y[rows]):
        X, y = data.X.iloc[rows[held]], data.y[rows[held]]
        for place, (alpha, price, rule) in enumerate(tried):
            clf = method(data, alpha, price, rule, most).fit(data.X.iloc[rows[fit]], data.y[rows[fit]])
            right[place] += (clf.predict(X) == y).sum()
    best = int(right.argmax())
    return dict(zip(("alpha", "price", "rule"), tried[best])), right[best] / len(rows)


def yardsticks(data: Interviews) -> dict[str, float]:
    """Accuracy of a support-vector machine or, on large sets, a forest: nothing asked, and all answers."""
    columns = {"nothing asked": list(data.known), "all answers": list(data.X.columns)}
    train, test, found = data.train_index, data.test_index, {}
    for name, some in columns.items():
        told = OneHotEncoder(handle_unknown="ignore").fit_transform(data.X[some].astype(object).fillna("volunteered"))
        large = len(train) > LARGE
        told = told.astype(np.float32).toarray() if large else told  # on which forests are quicker by far
        machines = GridSearchCV(SVC(), {"C": [0.1, 0.3, 1, 3, 10], "kernel": ["linear", "rbf"]}, cv=5)
        model = RandomForestClassifier(100, min_samples_leaf=2, random_state=0) if large else machines
        found[name] = float((model.fit(told[train], data.y[train]).predict(told[test]) == data.y[test]).mean())
    return found


def curve(clf: SequentialClassifier, data: Interviews) -> Iterator[dict[str, float]]:
    """Accuracy, and share of mentioned symptoms asked for, where so many questions are asked."""
    X, y, mentioned = data.X.iloc[data.test_index], data.y[data.test_index], data.mentioned[data.test_index]
    for budget in BUDGETS:
        record = clf.acquire(X, budget=budget)
        asked = np.zeros(mentioned.shape, dtype=bool)
        row, place = np.nonzero(record.order >= 0)
        asked[row, record.order[row, place]] = True
        recall = float((asked & mentioned).sum() / max(1, mentioned.sum()))
        yield {"questions": budget, "accuracy": float((record.decision == y).mean()), "recall": recall}


def costs(record: Any, y: Any) -> Any:
    return record.paid + (record.decision != y)


def measured(name: str, data: Interviews, most: int) -> dict[str, Any]:
    """One set."""
    train, test = data.train_index, data.test_index
    settings, inner = chosen(data, most)
    began = time.process_time()
    clf = method(data, most=most, **settings).fit(data.X.iloc[train], data.y[train])
    seconds = time.process_time() - began
    X, y = data.X.iloc[test], data.y[test]
    began = time.process_time()
    record = clf.acquire(X)
    per_row = (time.process_time() - began) / len(test)
    told = " ".join(f"{key} {value}" for key, value in settings.items())
    print(f"{name}, {len(train)} + {len(test)} interviews, {data.n_classes} diseases, {data.X.shape[1]} columns")
    folds = "settings not chosen" if inner is None else f"accuracy on folds of the training rows {inner:.3f}"
    print(f"  {told}; {folds}; fit {seconds:.1f} s of CPU")
    mean = float((record.order >= 0).sum(axis=1).mean())
    right = float((record.decision == y).mean())
    cost = float(costs(record, y).mean())
    print(f"  at most {most} questions: accuracy {right:.3f} with {mean:.2f} questions, cost {cost:.4f}")
    found = {"accuracy": right, "questions": mean, "cost": cost, "folds": inner}
    found["curve"] = list(
        curve(method(data, **settings, most=max(BUDGETS)).fit(data.X.iloc[train], data.y[train]), data)
    )
    print("  questions " + " ".join(f"{point['questions']:5d}" for point in found["curve"]))
    for what in ("accuracy", "recall"):
        print(f"  {what:9} " + " ".join(f"{point[what]:5.3f}" for point in found["curve"]))
    found |= yardsticks(data)
    print(
        f"  without a sequence: {', '.join(f'{k} {found[k]:.3f}' for k in ('nothing asked', 'all answers'))}",
        flush=True,
    )
    found["from_nothing"] = against_nothing(clf, data, settings, most)
    found["ms_a_question"] = ms_a_question(clf, data)
    print(
        f"  a live case: {found['ms_a_question']:.1f} ms a question; batches: {1e3 * per_row:.2f} ms a row", flush=True
    )
    peer = {"peer": None, "peer_s": None, "ratio": None, "peak_mb": None}
    return {"name": name, "ours_s": seconds, **peer, **{k: str(v) for k, v in settings.items()}, **found}


def against_nothing(clf: SequentialClassifier, data: Interviews, settings: Any, most: int) -> dict[str, float] | None:
    """What planning from nothing, and then being told the same of each row, costs more on the test rows, paired."""
    train, X, y = data.train_index, data.X.iloc[data.test_index], data.y[data.test_index]
    if len(train) > LARGE:
        return None
    free = dict.fromkeys(data.known, 0.0) | {
        column: settings["price"] for column in data.X.columns if column not in data.known
    }
    other = method(data, **settings, most=most, known=(), feature_costs=free)
    other.fit(data.X.iloc[train], data.y[train])
    one, two = clf.acquire(X), other.acquire(X, known=list(data.known))
    test = paired_t_test(costs(two, y), costs(one, y))
    low, high = test.interval
    n = (two.order >= 0).sum(axis=1).mean()
    right = float((two.decision == y).mean())
    print(
        f"  planned from nothing, then told: accuracy {right:.3f} with {n:.2f} questions; costs "
        f"{test.difference:+.4f} ({low:+.4f} to {high:+.4f}) more"
    )
    return {"accuracy": right, "questions": float(n), "difference": test.difference, "lower": low, "upper": high}


def ms_a_question(clf: SequentialClassifier, data: Interviews, n: int = 5) -> float:
    """Milliseconds from one question of a live case to the next."""
    seconds, asked = 0.0, 0
    for number in data.test_index[:n].tolist():
        row = data.X.iloc[number]
        case = clf.session(known={column: row[column] for column in data.known})
        began = time.perf_counter()
        while (question := case.next_feature) is not None:
            names = [feature.name for feature in question.features]
            value = row[names].to_dict() if names else row[question.name]
            case.observe(question.name, value) if value == value else case.unavailable(question.name)
            asked += 1
        seconds += time.perf_counter() - began
    return 1e3 * seconds / max(1, asked)


def generated(n: int = 240) -> Interviews:
    """Four diseases, ten symptoms, of which patients volunteer some."""
    rng = np.random.default_rng(0)
    likely = rng.beta(0.5, 0.9, (4, 10))
    records = []
    for i in range(n):
        has = rng.random(10) < likely[i % 4]
        said = has & (rng.random(10) < 0.3)
        asked = ~said & (rng.random(10) < 0.7)
        slots = {"explicit_inform_slots": said & has, "implicit_inform_slots": asked}
        told = {k: {f"s{j}": bool(has[j]) for j in np.flatnonzero(v)} for k, v in slots.items()}
        records.append({"disease_tag": f"d{i % 4}", "goal": told})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.json"
        path.write_text(json.dumps({"train": records[: n // 2], "test": records[n // 2 :]}))
        return load_interviews(path)


def by_chunks(n_chunks: int = 50, n_rows: int = 20_000, n_new: int = 6000) -> dict[str, Any]:
    """Patients by chunks: seconds of the processor, most memory, decisions, and which diseases are still possible."""
    rng = np.random.default_rng(0)
    shape = (49, 223)
    rare, likely = rng.uniform(0.0, 0.02, shape), rng.uniform(0.2, 0.9, shape)
    share, prior = np.where(rng.random(shape) < 0.08, likely, rare), rng.dirichlet(np.full(49, 3.0))

    def patients(number: int, n: int) -> tuple[Any, Any]:
        rng = np.random.default_rng([1, number])
        y = rng.choice(49, n, p=prior)
        return (rng.random((n, 223)) < share[y]).astype(np.float64), y

    def chunks() -> Iterator[tuple[Any, Any]]:
        return (patients(number, n_rows) for number in range(n_chunks))

    solver = Adaptive([ClassInformation()], max_rounds=0, search_nodes=0, certificate_paths=0)
    clf = SequentialClassifier(NaiveBayes(), solver, discretizer="precomputed", order="adaptive", feature_costs=0.01)
    began = time.process_time()
    clf.fit_chunks(chunks)
    fit, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    X, y = patients(n_chunks, n_new)
    began = time.process_time()
    record = clf.acquire(X)
    predict = time.process_time() - began
    case, asked, began = clf.session(), 0, time.process_time()
    while (question := case.next_feature) is not None:
        case.observe(question.name, X[0, question.column])
        asked += 1
    ms = 1e3 * (time.process_time() - began) / max(1, asked)
    told = certify_differential(clf, *patients(n_chunks + 1, n_new), alpha=0.05)
    sets = told.acquire(X).differential
    found = {
        "accuracy": float((record.decision == y).mean()),
        "questions": float(record.n_features.mean()),
        "size": float(sets.sum(axis=1).mean()),
        "lacking": float(1 - sets[np.arange(n_new), y].mean()),
    }
    print(
        f"million: {n_chunks * n_rows} patients, 49 diseases, 223 symptoms: fit {fit:.1f} s of CPU, {peak:.0f} MB; "
        f"{n_new} decisions in {predict:.2f} s, {ms:.1f} ms a question; accuracy {found['accuracy']:.3f} after "
        f"{found['questions']:.1f} questions; sets of {found['size']:.2f} diseases lack the true one in "
        f"{found['lacking']:.1%} of cases"
    )
    peer: dict[str, None] = dict.fromkeys(("peer", "peer_s", "ratio", "peak_mb"))
    return {"name": "million", "ours_s": fit, **peer, "memory": peak, "predict_s": predict, "ms": ms} | found


def ddxplus(folder: Path) -> list[dict[str, Any]]:
    """Five folds of DDXPlus: what is learnt of pathologies, of differentials, and where severe errors cost more."""
    path = {part: folder / f"ddxplus_{part}" for part in ("patients.csv.gz", "evidences.json.gz", "conditions.json.gz")}
    patients, evidences, conditions = path.values()
    data = load_interviews(patients, evidences=evidences, conditions=conditions)
    severity = np.array([data.severity[name] for name in data.class_names])
    severe = np.where((severity <= 2)[:, None] & (severity > 2), 5.0, 1.0) * (1 - np.eye(data.n_classes))
    rows = [ddxplus_row(data, price) for price in DDXPLUS_PRICES]
    rows.append(ddxplus_row(data, DDXPLUS_PRICES[1], target="differential"))
    rows.append(ddxplus_row(data, DDXPLUS_PRICES[1], "severe", severe))
    rows.append(ddxplus_contract(data, DDXPLUS_PRICES[1]))
    return rows


def ddxplus_contract(data: Interviews, price: float) -> dict[str, Any]:
    """Learn from half of the rows, certify on a quarter, and count on the rest: severe diseases, sets of diseases."""
    fit, others = train_test_split(np.arange(len(data.y)), train_size=0.5, random_state=0)
    certify, new = train_test_split(others, train_size=0.5, random_state=0)
    X, y = data.X, data.labels
    clf = method(data, 0.1, price, ClassInformation(), None, feature_costs=Costs(price, bundles=data.bundles))
    clf.fit(X.iloc[fit], y[fit])
    severe = [name for name in clf.classes_.tolist() if data.severity[name] <= 2]
    known = np.isin(y[certify], clf.classes_)  # of a disease that no row of the fit has nothing can be said
    rows = certify[known]
    contract = certify_error(clf, X.iloc[rows], y[rows], 0.05, metric="sensitivity", target=severe)
    told = certify_differential(clf, X.iloc[rows], y[rows], 0.05)
    sets = told.acquire(X.iloc[new]).differential
    at = {name: j for j, name in enumerate(told.classes_.tolist())}
    decision = contract.predict(X.iloc[new])
    worst = np.isin(y[new], severe)
    missed = int((worst & ~np.isin(decision, severe)).sum())
    lacking = float(np.mean([name not in at or not row[at[name]] for name, row in zip(y[new], sets)]))
    size = float(sets.sum(axis=1).mean())
    print(f"ddxplus {price}, {contract}")
    print(
        f"  on {len(new)} new rows {missed} of {worst.sum()} severe cases are decided for a milder disease; sets of "
        f"{size:.2f} diseases lack the true one in {lacking:.1%}",
        flush=True,
    )
    peer: dict[str, None] = dict.fromkeys(("ours_s", "peer", "peer_s", "ratio", "peak_mb"))
    figures = {"bound": contract.bound, "missed": missed, "severe": int(worst.sum()), "size": size, "lacking": lacking}
    return {"name": f"ddxplus {price} contract"} | peer | figures


def ddxplus_row(data: Interviews, price: float, name: str = "", costs: Any = None, target: str = "") -> dict[str, Any]:
    """One setting on five folds; figures with half the width of their intervals over rows, at 95%."""
    seen, name, differential = [], name or target, data.differential
    seconds, live = [], []
    for fold, (fit, held) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(data.y, data.y)):
        rows, y, weight = fit, data.labels[fit], None
        if target:
            row, disease = np.nonzero(differential[fit] > 0.01)
            rows, y, weight = fit[row], np.array(data.class_names)[disease], differential[fit][row, disease]
        own = np.isin(data.class_names, y)  # of a disease that no row of the fold has nothing is learnt
        prices = Costs(price, bundles=data.bundles, decision_costs=None if costs is None else costs[np.ix_(own, own)])
        clf = method(data, 0.1, price, ClassInformation(), None, feature_costs=prices)
        began = time.process_time()
        clf.fit(data.X.iloc[rows], y, sample_weight=weight)
        seconds.append(time.process_time() - began)
        record = clf.acquire(data.X.iloc[held])
        asked = np.zeros((len(held), data.X.shape[1]), dtype=bool)
        row, place = np.nonzero(record.order >= 0)
        asked[row, record.order[row, place]] = True
        label = np.array([own or column for own, column in zip(data.bundles, data.X.columns)])
        first = {name: j for j, name in reversed(list(enumerate(label)))}
        of = np.array([first[name] for name in label])
        had = np.zeros_like(asked)
        row, column = np.nonzero(data.mentioned[held])
        had[row, of[column]] = True
        was = np.zeros_like(asked)
        row, column = np.nonzero(asked)
        was[row, of[column]] = True
        likely = np.zeros((len(held), data.n_classes), dtype=bool)
        likely[:, own] = record.posterior > 0.01
        true = differential[held] > 0.01
        both = (likely & true).sum(axis=1)
        wrong = record.decision != data.labels[held]
        worst = np.array([data.severity[one] for one in data.labels[held]]) <= 2
        missed = worst & (np.array([data.severity[one] for one in record.decision]) > 2)
        recall = (was & had).sum(axis=1) / np.maximum(had.sum(axis=1), 1)
        ddr, ddp = both / true.sum(axis=1), both / np.maximum(likely.sum(axis=1), 1)
        seen.append(np.column_stack([~wrong, was.sum(axis=1), recall, ddr, ddp, np.where(worst, missed, np.nan)]))
        if not fold:
            live.append(ms_a_question(clf, replace(data, test_index=held), 20))
    every = np.concatenate(seen)
    n = (~np.isnan(every)).sum(axis=0)
    mean, half = np.nanmean(every, axis=0), 1.96 * np.nanstd(every, axis=0) / np.sqrt(n)
    keys = ("accuracy", "questions", "recall", "DDR", "DDP", "severe missed")
    found = dict(zip(keys, mean.tolist()))
    found["DDF1"] = 2 * found["DDR"] * found["DDP"] / (found["DDR"] + found["DDP"])
    text = ", ".join(f"{key} {value:.3f} +- {wide:.3f}" for key, value, wide in zip(keys, mean, half))
    print(
        f"ddxplus {price} {name}: {text}, DDF1 {found['DDF1']:.3f}; fit {max(seconds):.1f} s of CPU, {live[0]:.1f} ms",
        flush=True,
    )
    peer: dict[str, None] = dict.fromkeys(("peer", "peer_s", "ratio", "peak_mb"))
    return {"name": f"ddxplus {price} {name}".strip(), "ours_s": max(seconds), **peer, "ms": live[0]} | found


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=["dxy", "mz4"])
    made.add_argument("--most", type=int, default=10)
    arguments = made.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    if arguments.quick:
        global ALPHAS, PRICES
        ALPHAS, PRICES = (1.0,), (0.01,)
        rows += [measured("generated", generated(), 4), by_chunks(2, 1000, 300)]
    for name in () if arguments.quick else arguments.sets:
        if name == "million":
            rows.append(by_chunks())
            continue
        folder = data_folder(arguments)
        if name == "ddxplus" and folder is not None and (folder / "interviews" / "ddxplus_patients.csv.gz").exists():
            rows += ddxplus(folder / "interviews")
            continue
        path = None if folder is None else folder / "interviews" / f"{name}.npz"
        if path is None or not path.exists():
            left_out(name, f"no interviews/{name}.npz; name its folder by --data or SEQCLASS_DATA")
            continue
        rows.append(measured(name, load_interviews(path), arguments.most))
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
