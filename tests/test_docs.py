"""The documentation says what is so: its code runs, and prints what the page shows."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
import types
import warnings
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from headless import browser as browser

import seqclass
from seqclass.cli import main

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
pytestmark = [
    pytest.mark.skipif(not DOCS.is_dir(), reason="no docs beside the tests: not a checkout"),
    pytest.mark.usefixtures("whole_certificates", "whole_lines"),
]

PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
#: Pages of many seconds: slow, and run where the documentation is built.
LONG = {
    *(
        "cli.md",
        "cli-files.md",
        "cost.md",
        "choose.md",
        "data.md",
        "missing.md",
        "visits.md",
        "export.md",
        "papers/run.md",
        "costs.md",
        "experiments.md",
        "networks.md",
    ),
    *(
        "certified.md",
        "selection.md",
        "extending/solver.md",
        "migrate/afabench.md",
        "theory/correlated.md",
        "scores.md",
    ),
    *(
        "index.md",
        "early.md",
        "fhir.md",
        "test_tables.md",
        "tasks.md",
        "offpolicy.md",
        "large.md",
        "drift.md",
        "extending/rule.md",
    ),
    *("../README.md", "serve.md", "exams.md", "analysis.md", "start.md", "migrate/pgmpy.md", "theory/certificates.md"),
    *("adaptive.md", "calibration.md", "episodes.md", "live.md", "symptoms.md", "migrate/pomdp-py.md"),
}
BLOCK = re.compile(
    r"^(?:<!-- (?P<reason>not run: [^>]*?|ci:run|ci:test) -->\n+)?```(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block: its kind, its text, the line it starts in, and why it is not run, if it is not."""

    kind: str
    body: str
    line: int
    reason: str | None


def blocks(page: str) -> list[Block]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return [
        Block(found["kind"], found["body"], text.count("\n", 0, found.start("body")), found["reason"])
        for found in BLOCK.finditer(text)
    ]


def run_python(block: Block, page: str, namespace: dict[str, object]) -> str:
    """What a block prints; a traceback names the page and its line."""
    code = compile("\n" * block.line + block.body, str(DOCS / page), "exec")
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def run_bash(block: Block, page: str, folder: Path) -> str:
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.body],
        cwd=folder,
        env=os.environ
        | {"PATH": tools, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}
        # `python -m reproduction` is for the root of a checkout
        | {"PYTHONPATH": os.pathsep.join(filter(None, [str(DOCS.parent), os.environ.get("PYTHONPATH")]))},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, f"{page}, line {block.line}:\n{done.stderr}"
    return done.stdout


#: A command of ours without anything of the shell's, but that its output may go to a file.
OURS = re.compile(r"seqclass ([^$`|;&*?<>#(){}~]*)(?:> ?(\S+))?")


def run_ours(block: Block, page: str, folder: Path) -> str | None:
    """What a block prints that calls nothing but ``seqclass``, without starting Python anew; None of any other."""
    calls = [OURS.fullmatch(line.strip()) for line in block.body.replace("\\\n", " ").splitlines() if line.strip()]
    printed = ""
    for call in calls if all(calls) else []:
        assert call is not None
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # as in a process of its own
            done = CliRunner(env={"COLUMNS": "100"}).invoke(main, shlex.split(call[1]), prog_name="seqclass")
        assert done.exit_code == 0, f"{page}, line {block.line}:\n{done.stderr}"
        if call[2] is None:
            printed += done.stdout
        else:
            (folder / call[2]).write_text(done.stdout, encoding="utf-8")
    return printed if all(calls) else None


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


def same(shown: str, printed: str) -> bool:
    """Whether a page shows what is printed: ``...`` stands for anything, a decimal fraction for any close to it.

    Close, for other versions of the libraries may differ in a rounding, and with it in a tie; whole numbers are exact.
    """
    expected, actual = (" ".join("\n".join(lines(text)).split()) for text in (shown, printed))
    parts = re.split(r"(\.\.\.|" + NUMBER.pattern + ")", expected)
    fractions = [part for part in parts if NUMBER.fullmatch(part) and not part.isdigit()]
    pattern = "".join(
        ".*?" if part == "..." else f"({NUMBER.pattern})" if part in fractions else re.escape(part) for part in parts
    )
    found = re.fullmatch(pattern, actual)
    if found is None:
        return False
    return all(float(b) == pytest.approx(float(a), rel=0.05, abs=0.005) for a, b in zip(fractions, found.groups()))


def test_outputs_are_compared() -> None:
    assert same("cost 0.123, ...\nfor x1", "cost  0.124, anything at all\nfor x1")
    assert not same("cost 0.123", "cost 0.15")
    assert not same("3 features", "4 features")
    assert not same("3000 rows", "2955 rows")
    assert not same("a b", "a c")


@pytest.mark.slow_cells("extending/model.md", "extending/selector.md")
@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=pytest.mark.slow if p in LONG else ()) for p in [*PAGES, "../README.md"]]
)
def test_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = blocks(page)
    if not any(block.kind in ("python", "bash") and block.reason is None for block in found):
        pytest.skip("no code to run")
    if page in ("serve.md", "fhir.md"):
        pytest.importorskip("fastapi", reason="no FastAPI: the extra `serve` has it")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.delenv("SEQCLASS_DATA", raising=False)  # what the pages show is of sets that everybody has
    module = types.ModuleType("docs_page")  # dataclasses look their module up
    monkeypatch.setitem(sys.modules, module.__name__, module)
    printed: str | None = None
    for block in found:
        where = f"{page}, line {block.line}"
        if block.kind == "output":
            assert printed is not None, f"{where}: output of a block that is not run"
            assert same(block.body, printed), f"{where}: the page shows\n{block.body}\nbut this is printed:\n{printed}"
        elif block.reason is not None:
            printed = None
        elif block.kind == "python":
            for library in re.findall(r"^(?:import|from) (pomdp_py|river)\b", block.body, re.MULTILINE):
                pytest.importorskip(library)  # not on every Python
            printed = run_python(block, page, module.__dict__)
        elif block.kind == "bash":
            if os.name == "nt":
                pytest.skip("needs bash")
            ours = run_ours(block, page, tmp_path)
            printed = run_bash(block, page, tmp_path) if ours is None else ours


@pytest.mark.parametrize("page", PAGES)
def test_blocks_say_what_they_are(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text.count("\n```") % 2 == 0
    for block in blocks(page):
        assert block.kind in ("python", "bash", "output", "text"), f"{page}, line {block.line}: a fence without a kind"
        assert block.reason is None or len(block.reason.split()) > 4, f"{page}, line {block.line}: say why"


def test_the_tour_names_files_that_there_are() -> None:
    text = (DOCS / "how_it_works.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests)/[\w/.]+)`", text)
    assert len(set(named)) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


#: A page that is longer is two: for two readers, or of two questions.
MOST_LINES = 250


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_read_at_one_sitting(page: str) -> None:
    n_lines = len((DOCS / page).read_text(encoding="utf-8").splitlines())
    assert n_lines <= MOST_LINES, f"{page} has {n_lines} lines: say it shorter, or make it two pages"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    """Without mkdocs: pages, pictures and generated pages; anchors are the strict build's to check."""
    text = BLOCK.sub("", (DOCS / page).read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if target.startswith(("http://", "https://")):
            continue
        path = (DOCS / page).parent / target
        inside = os.path.relpath(path, DOCS).replace(os.sep, "/")
        generated = {
            "api/index.md",
            "gallery/index.md",
            "changes.md",
            "commands.md",
            *(f"api/{name}.md" for name in _modules()),
        }
        generated |= {f"gallery/{example.stem}.md" for example in (ROOT / "examples").glob("*.py")}
        assert path.is_file() or inside in generated, f"{page} links to {target}"


def _assigned(name: str) -> Any:
    """A constant of the hooks, which cannot be imported without the extra ``docs``."""
    for node in ast.parse((DOCS / "_hooks.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"docs/_hooks.py has no {name}")


def _without_page() -> tuple[str, ...]:
    """Public modules that the hooks give no page."""
    return tuple(_assigned("ELSEWHERE"))


@cache  # links of every page are held against it
def _modules() -> frozenset[str]:
    names = {module.name for module in pkgutil.iter_modules(seqclass.__path__) if not module.name.startswith("_")}
    found = {"seqclass", *(f"seqclass.{name}" for name in names)} - set(_without_page())
    return frozenset(name for name in found if _offered(importlib.import_module(name)))


#: Every public name, one a line. Users notice a change of it: say in CHANGELOG.md which, and write the list anew by
#: `python -c "import test_docs; test_docs.PUBLIC.write_text(test_docs.public_text(), 'utf-8')"` in `tests`.
PUBLIC = ROOT / "tests" / "public_names.txt"


def _offered(module: types.ModuleType) -> list[str]:
    """``__all__``, or what a module defines under a public name: what its page of the reference lists."""
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return sorted(name for name in getattr(module, "__all__", own) if not name.startswith("_"))


def public_text() -> str:
    """The names that the reference has, as the kept list has them."""
    return "".join(f"{m}.{name}\n" for m in sorted(_modules()) for name in _offered(importlib.import_module(m)))


def test_public_names_are_those_of_the_list() -> None:
    kept, now = (set(text.splitlines()) for text in (PUBLIC.read_text("utf-8"), public_text()))
    assert sorted(now - kept) == [], "new names, which have to stay for good: put them into tests/public_names.txt"
    assert sorted(kept - now) == [], (
        "gone, so that what users import breaks: say so in CHANGELOG.md, and take them off the list"
    )


def test_the_reference_lists_the_same_names(hooks: types.ModuleType) -> None:
    offered = (f"{m}.{n}\n" for m in sorted(hooks.modules()) for n in hooks.public_names(importlib.import_module(m)))
    assert "".join(offered) == public_text()


def test_modules_without_a_page_hold_nothing_else() -> None:
    """What they offer has its place on another page."""
    shown = {line.rpartition(".")[2] for line in public_text().splitlines()}
    met = {place.rpartition(".")[2] for places in _assigned("MET").values() for place in places}
    for name in set(_without_page()) - {"seqclass.cli"}:
        assert set(importlib.import_module(name).__all__) <= shown | met


def test_no_more_names_than_can_be_kept() -> None:
    names = public_text().splitlines()
    assert len({name.rpartition(".")[2] for name in names}) >= len(names) - 1, "each in one place; only load has two"


def test_what_public_functions_give_back_has_its_place(hooks: types.ModuleType) -> None:
    """A class of ours in the annotation of a public function is itself public, or on the function's page."""
    n_looked_at = 0
    for module in hooks.modules():
        offered = importlib.import_module(module)
        functions = [
            value for name in hooks.public_names(offered) if inspect.isfunction(value := getattr(offered, name))
        ]
        for function in functions:
            given = re.findall(r"\w+", str(function.__annotations__.get("return", "")))
            ours = [vars(sys.modules[function.__module__]).get(name) for name in given]
            ours = [one for one in ours if inspect.isclass(one) and one.__module__.startswith("seqclass")]
            n_looked_at += len(ours)
            for one in ours:
                assert hooks.public_classes() & set(one.__mro__), f"{module}.{function.__name__} gives {one.__name__}"
    assert n_looked_at > 10


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page for page in PAGES if f" {page}\n" not in menu] == []


def test_no_page_fetches_anything() -> None:
    """The site has to work without a network: links may lead out, pictures and scripts may not."""
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        assert re.findall(r"!\[[^\]]*\]\(https?:|src=.https?:", text) == [], page


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """What the build runs; it needs the extra ``docs``."""
    pytest.importorskip("latex2mathml")
    pytest.importorskip("mkdocs")
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("_hooks")


def test_formulas_become_mathml(hooks: types.ModuleType) -> None:
    made = hooks.FORMULA.sub(hooks.mathml, r'<p><span class="arithmatex">\(a &lt; b^2\)</span></p>')
    assert made.startswith('<p><span class="arithmatex"><math')
    assert "&#x0003C;" in made or "&lt;" in made
    assert "<msup>" in made
    with pytest.raises(ValueError, match="notacommand"):
        hooks.FORMULA.sub(hooks.mathml, r'<div class="arithmatex">\[\notacommand\]</div>')


def test_names_become_links(hooks: types.ModuleType) -> None:
    hooks.on_config(None)
    assert set(hooks.modules()) == _modules()
    page = types.SimpleNamespace(file=types.SimpleNamespace(dest_uri="theory/page.html"))
    text = "<p><code>Perseus</code> <code>acquire</code> <code>nothing</code></p><pre><code>Perseus</code></pre>"
    made = hooks.on_page_content(text, page=page)
    assert made.count("<a ") == 1
    assert 'href="../api/seqclass.pomdp.html#seqclass.pomdp.Perseus"' in made


def test_what_a_class_has_from_private_bases_is_on_its_page(hooks: types.ModuleType) -> None:
    text = hooks.api_page("seqclass")
    options = text.partition("::: seqclass.SequentialClassifier\n")[2].partition(":::")[0]
    assert {"'predict'", "'acquire'", "'encode'"} <= set(re.findall(r"'\w+'", options))
    assert "options" not in hooks.api_page("seqclass.persistence")  # functions alone


@pytest.mark.parametrize("page", PAGES)
def test_numbers_of_papers_are_no_references_of_markdown(page: str) -> None:
    """``[7] [8]`` is a link to 8 for Markdown, which the strict build does not find."""
    text = BLOCK.sub("", (DOCS / page).read_text(encoding="utf-8"))
    assert re.findall(r"\[\d+\] ?\[\d+\]", text) == []


_PAGE = """
[A link](index.md) stands among words that are not one.

```python
import seqclass  # a comment that is much longer than what a telephone shows of a line at once, and so the box scrolls
print(round(0.5, 1), seqclass.etana(0.01), True, "a text", [lambda x: x + 1])
```

```output
accuracy 0.947
```

$$a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t + u + v + w + x + y + z + a + b + c$$

| column | column |
|---|---|
| `a_name_without_any_place_to_break_it_in_two` | `another_name_without_any_place_to_break_it_in_two` |
"""
#: What of the page has less contrast than 4.5 to 1 with the colour behind it, as WCAG reckons.
_FAINT = """(() => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = c => c.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = e => {
    const colour = parts(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    return e.parentElement ? behind(e.parentElement) : [255, 255, 255];
  };
  const faint = [];
  for (const e of document.querySelectorAll("article :is(pre span, a:not(.headerlink), code)")) {
    if (!e.innerText.trim() || e.querySelector("span, code, a")) continue;
    const back = behind(e), [r, g, b, alpha = 1] = parts(getComputedStyle(e).color);
    const own = [r, g, b].map((v, i) => v * alpha + back[i] * (1 - alpha));
    const [high, low] = [light(own), light(back)].sort((a, b) => b - a);
    if ((high + .05) / (low + .05) < 4.5) faint.push(`${e.className} ${e.innerText}: ${own} on ${back}`);
  }
  return faint;
})()"""
_UNREACHED = """[...document.querySelectorAll("article *")]
  .filter(e => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === "auto" && e.tabIndex !== 0)
  .map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.slow
def test_pages_can_be_read_and_reached(hooks: types.ModuleType, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """By those who see little, use no mouse, or hear the page: what axe found of the theme."""
    pytest.importorskip("material")
    browser = request.getfixturevalue("browser")
    yaml, build, load = map(pytest.importorskip, ("yaml", "mkdocs.commands.build", "mkdocs.config"))
    docs = tmp_path / "docs"
    (docs / "part").mkdir(parents=True)
    for name in ("style.css", "keyboard.js"):
        (docs / name).write_bytes((DOCS / name).read_bytes())
    (docs / "index.md").write_text(f"# Title\n{_PAGE}", encoding="utf-8")
    (docs / "part" / "index.md").write_text("# Part\n", encoding="utf-8")
    (tmp_path / "hooks.py").write_text(
        "from _hooks import on_config, on_page_content, on_post_page\n", encoding="utf-8"
    )
    settings = importlib.import_module("mkdocs.utils.yaml").yaml_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    settings |= {"nav": [{"Home": "index.md"}, {"Part": ["part/index.md"]}], "plugins": ["search"], "watch": []}
    settings |= {"docs_dir": str(docs), "site_dir": str(tmp_path / "site"), "hooks": [str(tmp_path / "hooks.py")]}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    build.build(load.load_config(str(tmp_path / "mkdocs.yml")))
    for dark in (False, True):
        for width in (390, 1280):
            browser.open(tmp_path / "site" / "index.html", width=width, dark=dark)
            scheme = browser.run("document.body.dataset.mdColorScheme")
            browser.run("localStorage.clear()")
            assert scheme == ("slate" if dark else "default")
            assert browser.run(_FAINT) == []
            link = "getComputedStyle(document.querySelector('article p a')).textDecorationLine"
            assert browser.run(link) == "underline"
            # two frames on all sizes are known
            twice = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
            browser.send("Runtime.evaluate", expression=twice, awaitPromise=True)
            assert browser.run(_UNREACHED) == []
    assert browser.run("document.querySelector('[role=dialog]').ariaLabel") == "Search"
    named = "[...document.querySelectorAll('nav')].map(e => document.getElementById(e.getAttribute('aria-labelledby')))"
    assert browser.run(f"{named}.every(e => !e || e.innerText.trim())") is True


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(
    hooks: types.ModuleType, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Without --quiet, which keeps warnings from being counted, so that --strict would find none; and as it should be:

    pages that explain weigh more in the search than the reference, and code and output fit their column.
    """
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if not line.startswith("INFO"))
    index = json.loads((tmp_path / "site" / "search" / "search_index.json").read_text("utf-8"))["docs"]
    weights = {part["location"].partition("#")[0]: part.get("boost", 1.0) for part in index}
    assert weights["tasks.html"] == weights["cli.html"] == 1.0
    assert weights["api/seqclass.html"] == weights["papers/etana.html"] == 0.3
    browser, wide = request.getfixturevalue("browser"), dict[str, int]()
    cut = "[...document.querySelectorAll('article pre > code')].filter(e => e.scrollWidth > e.clientWidth).length"
    for page in [*PAGES, "index.md"]:
        browser.open((tmp_path / "site" / page).with_suffix(".html"), width=1280)
        wide[page] = browser.run(cut)
    assert {page: n for page, n in wide.items() if n} == {}


@pytest.mark.slow
def test_the_picture_of_the_readme_is_drawn(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Costs of the demo, and the page on a phone after two answers."""
    pytest.importorskip("matplotlib")
    request.getfixturevalue("browser")  # skips where there is none
    target = tmp_path / "readme.png"
    subprocess.run([sys.executable, str(DOCS / "_picture.py"), str(target)], check=True, cwd=tmp_path)
    assert target.read_bytes().startswith(b"\x89PNG")
