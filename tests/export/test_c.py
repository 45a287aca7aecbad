"""The C source, compiled strictly, stands where a session stands."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_cases import EVERY, EXPORTED, SOURCES

from seqclass import Costs, SequentialClassifier
from seqclass.export import export_policy

COMPILER = shutil.which("cc")
SAFE = ["-fsanitize=address,undefined", "-fsanitize-undefined-trap-on-error"]
#: One of each kind of table, which the default suite has watched for reading beyond an end; all are in the slow one.
WATCHED = {"mixture", "given order", "listed, max_features", "areas, ladder", "visits, ladder", "graph"}
#: One of each kind of source, which has to compile without a main of ours beside it.
ALONE = [
    *("graph", "visits"),
    *(pytest.param(n, marks=pytest.mark.slow) for n in ("grid2", "tree", "adaptive", "bundles", "network", "ec2")),
]
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
#: Reads cases, one a line: their number of answers, and each as feature, outcome or value, and how it is given.
MAIN = """
#include <stdio.h>
#include "policy.c"

static void stand(const seq_case *c)
{
    int i, q = seq_question(c);
    printf("%d %d %.17g %.17g", q, seq_decision(c), seq_expected_cost(c), seq_paid(*c));
    if (q >= 0) printf(" %.17g %.17g", seq_price(c, q), seq_saving(c)); else printf(" 0 0");
    for (i = 0; i < SEQ_CLASSES; i++) printf(" %.17g", seq_belief(c)[i]);
    PANEL(c);
    ONCE(c);
    printf("\\n");
}

int main(void)
{
    int n;
    while (scanf("%d", &n) == 1) {
        seq_case c, before[99];
        int depth = 0;
        seq_begin(&c);
        stand(&c);
        while (n--) {
            int question, i, m, known, outcomes[SEQ_FEATURES];
            if (scanf("%d %d %d:", &question, &known, &m) != 3) return 1;
            if (question == -2) {
                c = before[--depth];
                stand(&c);
                continue;
            }
            before[depth++] = c;
            if (question < 0) {
                for (i = 0; i < known; i++)
                    if (scanf("%d", &outcomes[i]) != 1) return 1;
                if (ORDER(&c, known, outcomes)) return 2;
                stand(&c);
                continue;
            }
            for (i = 0; i < m; i++) {
                int feature = seq_feature_start[question] + i;
                char text[99];
                double value;
                if (scanf("%98[^;];", text) != 1) return 1;
                outcomes[i] = sscanf(text, "%lf", &value) == 1 ? seq_outcome(feature, value)
                                                               : seq_category(feature, text);
            }
            if (TELL(&c, question, outcomes)) return 2;
            stand(&c);
        }
    }
    return 0;
}
"""


PANEL = """ { int some[SEQ_QUESTIONS], n = seq_next_panel(c, some); \\
        printf(" %d %.17g %d", seq_visits_of(*c), seq_visit_cost(c), n); \\
        for (i = 0; i < n; i++) printf(" %d %.17g", some[i], seq_price(c, some[i])); }"""

#: A graph asks one question a visit.
ALONE_IN_IT = """ printf(" 0 %.17g 0", seq_visit_cost(c));"""
ONCE = """ for (i = 0; i < SEQ_QUESTIONS; i++) printf(" %.17g", seq_saving_once(c, i));"""


def compiled(folder: Path, kind: str, watched: bool = True) -> Path:
    if COMPILER is None:
        pytest.skip("no C compiler")
    one = "known ? seq_know(c, q, *o) : seq_answer(c, q, *o)"
    all_ = "known ? seq_know_all(c, q, o) : seq_answer_all(c, q, o)"
    either = f"q % 2 && seq_feature_start[q + 1] - seq_feature_start[q] == 1 ? ({one}) : ({all_})"
    tell = either if kind == "program" else "((void)known, seq_answer(c, q, *o))"
    order = "0" if kind == "graph" else "n ? seq_order(c, n, q) : (seq_leave(c), 0)"
    macros = f"#define TELL(c, q, o) ({tell})\n#define PANEL(c) {ALONE_IN_IT if kind == 'graph' else PANEL}\n"
    macros += f"#define ONCE(c) {ONCE if kind == 'program' else ''}\n"
    macros += f"#define ORDER(c, n, q) ({order})\n"
    (folder / "main.c").write_text(f"{macros}{MAIN}")
    command = [COMPILER, *STRICT, *(SAFE if watched else []), "-O0", "main.c", "-o", "main", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "main"


def given(data: dict[str, Any], number: dict[str, int], answer: tuple[str, Any, bool]) -> str:
    """An answer as the program reads it: of a bundle a value for each feature."""
    if answer[0] == "undo":
        return "-2 0 0:"
    if answer[0] == "leave":
        return "-1 0 0:"
    if answer[0] == "order":
        return f"-1 {len(answer[1])} 0:{' '.join(str(number[name]) for name in answer[1])}"
    name, value, known = answer
    shows = [data["features"][f]["name"] for f in data["questions"][number[name]]["features"]]
    values = [value.get(feature) for feature in shows] if isinstance(value, dict) else [value] * len(shows)
    texts = "".join(f"{'nan' if text is None else text};" for text in values)
    return f"{number[name]} {int(known)} {len(shows)}:{texts}"


@pytest.mark.slow_cells("visits")
@pytest.mark.parametrize("name", ALONE)
def test_the_source_compiles_alone(name: str, model: Any, tmp_path: Path) -> None:
    if COMPILER is None:
        pytest.skip("no C compiler")
    export_policy(model(name), tmp_path / "policy.c", format="c")
    strict = [COMPILER, *STRICT, "-c", "policy.c", "-o", "policy.o"]
    assert not subprocess.run(strict, cwd=tmp_path, capture_output=True, text=True, check=False).stderr


@pytest.mark.slow
def test_the_loop_of_the_head_compiles(model: Any, tmp_path: Path) -> None:
    if COMPILER is None:
        pytest.skip("no C compiler")
    export_policy(model("grid2"), tmp_path / "policy.c", format="c")
    source = (tmp_path / "policy.c").read_text(encoding="utf-8")
    loop = source[source.index("   seq_case c;") : source.index("   decide(")]
    around = '#include "policy.c"\ndouble measure(int);\nint main(void)\n{\n%s   return seq_decision(&c);\n}\n'
    (tmp_path / "main.c").write_text(around % loop)
    strict = [COMPILER, *STRICT, "-c", "main.c", "-o", "main.o"]
    assert not subprocess.run(strict, cwd=tmp_path, capture_output=True, text=True, check=False).stderr


@pytest.mark.slow_cells(
    "functions-False",
    "areas, ladder-True",
    "bounds-False",
    "expected saving-False",
    "first-False",
    "given order-True",
    "hidden information-False",
    "known at the start, fixed tree-False",
    "known first-False",
    "likely-False",
    "listed, max_features-True",
    "looking ahead-False",
    "mixture-True",
    "search, budgets-False",
    "sets, visits-False",
    "skills-False",
    "spelt-False",
    "thresholds-False",
    "tree, any order-False",
    "tree, improved-False",
    "visits, bundles-False",
    "visits, fixed order-False",
    "visits, ladder-True",
    "visits, tree-False",
    "visits-False",
)
@pytest.mark.parametrize(
    ("name", "watched"),
    [
        *((name, name in WATCHED) for name in EXPORTED if name in SOURCES),
        *(
            pytest.param(name, True, marks=pytest.mark.slow)
            for name in (one if isinstance(one, str) else one.values[0] for one in EVERY)
            if name not in WATCHED
        ),
    ],
)
def test_the_source_stands_where_a_session_stands(
    name: str, watched: bool, model: Any, cases: Any, tmp_path: Path
) -> None:
    clf = model(name)
    data = export_policy(clf, tmp_path / "policy.c", format="c")
    program = compiled(tmp_path, data["kind"], watched)
    number = {question["name"]: i for i, question in enumerate(data["questions"])}
    n_cases = 60 if name.startswith("default") else 25 if watched else 12
    wanted = cases(clf, n_cases, data["kind"] == "program")
    told = [
        " ".join([str(len(case["answers"])), *(given(data, number, a) for a in case["answers"])]) for case in wanted
    ]
    done = subprocess.run([program], input="\n".join(told), capture_output=True, text=True, check=True)
    lines = [[float(cell) for cell in line.split()] for line in done.stdout.splitlines()]
    stands = [stand for case in wanted for stand in case["stands"]]
    for line, stand in zip(lines, stands, strict=True):
        asked, decision, now, cost, price, saving, *belief = line[: 6 + len(data["classes"])]
        n_visits, visit, size, *rest = line[6 + len(data["classes"]) :] or [0, 0.0, 0]
        panel, alone = rest[: 2 * int(size)], rest[2 * int(size) :]
        for one, _, once in stand["best"] if data["kind"] == "program" else []:
            assert once is None or alone[number[one]] == pytest.approx(once, abs=1e-9, rel=0)
        assert visit == pytest.approx(stand["visit"], abs=1e-9, rel=0)
        if data["visits"] is not None and data["kind"] == "program":
            assert n_visits == stand["visits"]
            assert panel[::2] == [number[name] for name, _ in stand["panel"]]
            assert panel[1::2] == pytest.approx([p for _, p in stand["panel"]], abs=1e-9, rel=0)
        assert asked == (-1 if stand["asked"] is None else number[stand["asked"]])
        assert data["decisions"][int(decision)] == stand["decision"]
        assert [now, cost, *belief] == pytest.approx([stand["now"], stand["cost"], *stand["belief"]], abs=1e-9, rel=0)
        if stand["asked"] is not None:
            told = np.nan if stand["saving"] is None else stand["saving"]
            assert [price, saving] == pytest.approx([stand["price"], told], abs=1e-9, rel=0, nan_ok=True)


@pytest.mark.parametrize("bundles", [None, ["blood", "blood"]])
def test_a_source_of_no_question_compiles(bundles: Any, tmp_path: Path) -> None:
    if COMPILER is None:
        pytest.skip("no C compiler")
    X, y = np.repeat([[0.0, 1.0], [1.0, 1.0]], 20, axis=0), np.repeat(["a", "b"], 20)
    costs = Costs(0.02, bundles=bundles)
    data = export_policy(SequentialClassifier(feature_costs=costs, max_cost=0.01).fit(X, y), tmp_path / "p.c")
    assert (data["kind"], data["program"]["n_questions"]) == ("program", 0)  # any question may be answered
    strict = [COMPILER, *STRICT, "-fsyntax-only", "p.c"]
    assert not subprocess.run(strict, cwd=tmp_path, capture_output=True, text=True, check=False).stderr


def test_texts_of_any_length_compile_without_a_warning(tmp_path: Path) -> None:
    if COMPILER is None:
        pytest.skip("no C compiler")
    clf = SequentialClassifier(feature_costs=0.02).fit(np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat(["a", "b"], 20))
    export_policy(clf, tmp_path / "p.c", labels={"x0": "\N{LATIN SMALL LETTER E WITH ACUTE}" * 2100})
    strict = [COMPILER, *STRICT, "-fsyntax-only", "p.c"]
    assert not subprocess.run(strict, cwd=tmp_path, capture_output=True, text=True, check=False).stderr


def test_names_are_texts_whatever_is_in_them(tmp_path: Path) -> None:
    y = np.repeat(['a"b\\c??/\n', "\N{LATIN SMALL LETTER E WITH ACUTE}1"], 20)
    clf = SequentialClassifier().fit((y == y[0]).astype(float)[:, None], y)
    export_policy(clf, tmp_path / "policy.c", format="c")
    text = (tmp_path / "policy.c").read_text(encoding="utf-8")
    assert '"a\\042b\\134c\\077\\077/\\012"' in text
    assert '"\\303\\2511"' in text


def test_wrong_answers_change_nothing(model: Any, tmp_path: Path) -> None:
    export_policy(model("grid3"), tmp_path / "policy.c", format="c")
    (tmp_path / "main.c").write_text("""
#include <stdio.h>
#include "policy.c"
int main(void)
{
    seq_case c;
    seq_begin(&c);
    printf("%d %d %d ", seq_answer(&c, -1, 0), seq_answer(&c, SEQ_QUESTIONS, 0), seq_answer(&c, 0, 99));
    printf("%d %d ", seq_category(0, "none"), seq_outcome(0, 1.0));
    printf("%d ", seq_outcome(1, HUGE_VAL));
    printf("%d ", seq_answer(&c, 0, 0));
    printf("%d %s", seq_answer(&c, 0, 0), seq_feature_name(0));
    return 0;
}
""")
    if COMPILER is None:
        pytest.skip("no C compiler")
    subprocess.run([COMPILER, *STRICT, *SAFE, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    first = model("grid3").session().next_feature.name
    assert done.stdout == f"-2 -2 -2 -2 -2 -2 0 -2 {first}"
