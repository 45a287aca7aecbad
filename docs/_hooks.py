"""What the site does beyond plain pages: API and gallery are written from the sources, formulas become MathML.

mkdocs calls the functions that begin with ``on_``. Nothing here needs a network.
"""

from __future__ import annotations

import ast
import html
import importlib
import inspect
import pkgutil
import posixpath
import re
import runpy
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import _notebooks
import click
from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

import seqclass
from seqclass.cli import main

ROOT = Path(__file__).resolve().parents[1]

#: Modules of the API that come first in the menu; all other public ones follow.
FIRST = ("seqclass", "seqclass.bn", "seqclass.pomdp", "seqclass.selection", "seqclass.discretize")
#: Public modules without a page: their public names are offered elsewhere, or they are the command line.
ELSEWHERE = (
    "seqclass.adaptive_classifier",
    "seqclass.classifier",
    "seqclass.cli",
    "seqclass.costs",
    "seqclass.labels",
    "seqclass.recipes",
)
#: What public names give back or are called with, and nobody has to import: it has its place on their page.
MET = {
    "seqclass": (
        "adaptive_classifier.AdaptiveClassifier",
        "costs.Prices",
        "agent.calibration.Calibration",
        "agent.provenance.Provenance",
        "agent.record.AcquisitionRecord",
        "agent.session.Session",
        "evaluation.contract.CertifiedError",
        "fitting.held_out.HeldOut",
    ),
    "seqclass.analysis": (
        "analysis.beliefs.EntropyPath",
        "analysis.beliefs.ReachableBeliefs",
        "analysis.comparison.Regret",
        "analysis.features.ClassProfile",
        "analysis.features.FeatureValues",
        "analysis.information.ValueOfInformation",
        "analysis.missing.MissingSweep",
        "analysis.regions.StoppingRegions",
        "analysis.regions.Thresholds",
        "analysis.sensitivity.Sensitivity",
        "analysis.sensitivity.WhatIf",
        "agent.components.Component",
    ),
    "seqclass.bn": ("bn.base.HiddenTables",),
    "seqclass.exams": ("exams.report.ExamReport",),
    "seqclass.datasets": (
        "datasets.dataset.DatasetInfo",
        "datasets.hidden.HiddenStates",
        "datasets.interviews.Interviews",
        "datasets.logit.SwitchedLogit",
        "datasets.world.Optimum",
        "datasets.world.World",
        "datasets.files.load_file",
        "datasets.files.load_openml",
    ),
    "seqclass.drift": ("drift.Followed",),
    "seqclass.experiment": (
        "experiment.protocols.HoldOut",
        "experiment.protocols.Protocol",
        "experiment.records.LabelledRecord",
        "experiment.results.Comparison",
    ),
    "seqclass.large": ("large.DecidedParts",),
    "seqclass.metrics": (
        "evaluation.decision_curves.DecisionCurve",
        "evaluation.scores.ClassScores",
        "evaluation.scores.GroupScores",
        "evaluation.scores.Scores",
    ),
    "seqclass.offpolicy": (
        "offpolicy.estimate.Estimate",
        "offpolicy.estimate.Estimates",
        "offpolicy.estimate.MeanEstimate",
    ),
    "seqclass.pomdp": (
        "pomdp.acquisition.Acquisition",
        "pomdp.alpha.AlphaVectors",
        "pomdp.bounds.certificate.Certificate",
        "pomdp.bounds.dual.LowerBound",
        "pomdp.bridge.models.PomdpPyModels",
        "pomdp.bundles.Bundle",
        "pomdp.episodes.Step",
        "pomdp.evaluation.Evaluation",
        "pomdp.latent.Hidden",
        "pomdp.problem.BeliefState",
        "pomdp.policy.LookaheadPolicy",
        "pomdp.solve_info.OrderingCandidate",
        "pomdp.solve_info.OrderingChoice",
        "pomdp.solve_info.SolveStep",
        "pomdp.sweeps.budget.RandomisedPolicy",
        "pomdp.sweeps.frontier.CostFrontier",
    ),
    "seqclass.report": ("report.explore.ExploredRun",),
    "seqclass.selection": (
        "selection._reasons.FeatureReasons",
        "selection._semi_evaluate.SemiRFSStep",
        "selection.fires.FiresModel",
        "selection.prequential.Prequential",
        "selection.stability.Stability",
    ),
    "seqclass.stats": (
        "stats.friedman.CriticalDifference",
        "stats.friedman.FriedmanTest",
        "stats.intervals.MeanInterval",
        "stats.paired.PairedTest",
    ),
}


@cache
def modules() -> tuple[str, ...]:
    """Public modules that have a page, in the order of the menu."""
    names = [f"seqclass.{found.name}" for found in pkgutil.iter_modules(seqclass.__path__) if found.name[0] != "_"]
    others = (name for name in sorted(names) if name not in (*FIRST, *ELSEWHERE))
    return (*FIRST, *(name for name in others if public_names(importlib.import_module(name))))


def public_names(module: ModuleType) -> list[str]:
    """Names that a module offers: ``__all__``, or what it defines itself without an underscore."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        ]
    return sorted(name for name in listed if not name.startswith("_"))


@cache
def met(module: str) -> dict[str, Any]:
    """What has its place on the page of a module besides its public names, by where it is defined."""
    places = [f"seqclass.{place}".rpartition(".") for place in MET.get(module, ())]
    found = {f"{home}.{name}": getattr(importlib.import_module(home), name) for home, _, name in places}
    if module == "seqclass.datasets":
        from seqclass.datasets.catalog import GENERATORS

        drawing = dict.fromkeys(getattr(make, "func", make) for make in GENERATORS.values())
        found |= {f"{make.__module__}.{make.__name__}": make for make in drawing}
    return found


@cache
def public_classes() -> frozenset[Any]:
    """Classes that have a place on some page."""
    found = [value for name in modules() for value in met(name).values()]
    for module in map(importlib.import_module, modules()):
        found += [getattr(module, name) for name in public_names(module)]
    return frozenset(filter(inspect.isclass, found))


def from_private_bases(value: Any) -> list[str]:
    """Public members that a class has from bases of ours that have no place of their own."""
    bases = [b for b in getattr(value, "__mro__", ()) if b.__module__.startswith("seqclass") and b is not value]
    hidden = [name for base in bases if base not in public_classes() for name in vars(base)]
    return sorted({name for name in hidden if not name.startswith("_") and name not in vars(value)})


def first_line(value: Any) -> str:
    """First line of a docstring, safe in a table."""
    if not (callable(value) or inspect.ismodule(value)):
        return f"`{value!r}`"
    text = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("|", "\\|")


def api_page(name: str) -> str:
    """Markdown of the page of one module."""
    module = importlib.import_module(name)
    names = public_names(module)
    lines = [f"# {name}", "", inspect.getdoc(module) or "", "", "| name | what it is |", "|---|---|"]
    lines += [f"| [`{n}`](#{name}.{n}) | {first_line(getattr(module, n))} |" for n in names]
    for n in names:
        lines += described(f"{name}.{n}", getattr(module, n))
    others = met(name)
    if others:
        lines += ["", "## What these give back, and what they are called with { data-toc-label='And besides' }", ""]
        lines += ["Its attributes and methods are as stable as the names above; nobody has to import it."]
        lines += ["", "| name | what it is |", "|---|---|"]
        lines += [f"| [`{at.rpartition('.')[2]}`](#{at}) | {first_line(value)} |" for at, value in others.items()]
        for at, value in others.items():
            lines += described(at, value)
    return "\n".join(lines) + "\n"


def described(place: str, value: Any) -> list[str]:
    """Lines that have the reference describe something."""
    members = from_private_bases(value)
    return ["", f"::: {place}", *(["    options:", f"      inherited_members: {members}"] if members else [])]


def api_index() -> str:
    """Markdown of the list of modules."""
    lines = [
        "# API",
        "",
        "Everything that is public. Each example runs in the test suite.",
        "",
        "| module | what is there |",
        "|---|---|",
    ]
    lines += [f"| [`{name}`]({name}.md) | {first_line(importlib.import_module(name))} |" for name in modules()]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """Markdown of all commands with all options: the help of the command line, as it prints it."""
    lines = ["# Every command", "", "What `--help` prints, of the whole and of each command.", ""]
    context = click.Context(main, info_name="seqclass", max_content_width=100, terminal_width=100)
    lines += ["```text", main.get_help(context), "```", ""]
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        own = click.Context(command, parent=context, info_name=name, max_content_width=100, terminal_width=100)
        lines += [f"## seqclass {name}", "", "```text", command.get_help(own), "```", ""]
    return "\n".join(lines)


def example_parts(path: Path) -> tuple[str, str, str]:
    """Title, further text and code of an example: its docstring's first line, the rest of it, the whole file."""
    code = path.read_text(encoding="utf-8")
    text = inspect.cleandoc(ast.get_docstring(ast.parse(code)) or "")
    title, _, rest = text.partition("\n\n")
    return title.replace("\n", " ").rstrip("."), rest, code


def gallery() -> dict[str, str | bytes]:
    """Markdown of the gallery's pages, and pictures of notebooks, by their paths."""
    pages, index = (
        notebooks(),
        ["# Gallery", "", "Notebooks and scripts that run as they stand; tests run them all.", ""],
    )
    for path in NOTEBOOKS:
        title, _, rest = str(pages[f"gallery/{path.stem}.md"]).removeprefix("# ").partition("\n\n")
        index += [
            f"## [{title}]({path.stem}.md)",
            "",
            rest.partition("\n\n")[0],
            "",
            f"`examples/notebooks/{path.name}`",
            "",
        ]
    for path in sorted((ROOT / "examples").glob("*.py")):
        title, rest, code = example_parts(path)
        picture = ROOT / "docs" / "images" / "gallery" / f"{path.stem}.png"
        lines = [f"# {title}", ""]
        index += [f"## [{title}]({path.stem}.md)", ""]
        if picture.is_file():
            image = f"![What {path.stem}.py draws](../images/gallery/{path.stem}.png)"
            lines += [image, ""]
            index += [f"[{image}]({path.stem}.md)" + "{ .small }", ""]
        if rest:
            lines += [example_text(rest), ""]
        if path.stem == "displays":
            lines += displays()
            index += [f"[One picture of each display]({path.stem}.md), with the command that draws it.", ""]
        index += [f"`examples/{path.name}`", ""]
        lines += [f'```python title="examples/{path.name}"', code.rstrip(), "```", ""]
        pages[f"gallery/{path.stem}.md"] = "\n".join(lines)
    return {"gallery/index.md": "\n".join(index), **pages}


#: Notebooks in the order in which they are read.
NOTEBOOKS = [
    ROOT / "examples" / "notebooks" / f"{name}.ipynb"
    for name in ("first_classifier", "models_and_solvers", "a_beliefs_day")
]


def notebooks() -> dict[str, str | bytes]:
    """Markdown and pictures of the notebooks by their paths in the gallery."""
    files: dict[str, str | bytes] = {}
    for path in NOTEBOOKS:
        text, pictures = _notebooks.to_page(path)
        files[f"gallery/{path.stem}.md"] = f"{text}\nThe notebook: `examples/notebooks/{path.name}`\n"
        files |= {f"gallery/{name}": content for name, content in pictures.items()}
    return files


def displays() -> list[str]:
    """Lines of all displays: what each shows, its picture, and the command that draws it."""
    lines = []
    for name, draw in runpy.run_path(str(ROOT / "examples" / "displays.py"))["DISPLAYS"].items():
        image = f"![{name}: {draw.__doc__}](../images/gallery/displays/{name}.png)"
        lines += [
            f"## {name}",
            "",
            draw.__doc__,
            "",
            image,
            "",
            f"    python examples/displays.py {name} -o {name}.png",
            "",
        ]
        lines += [f"In the reference: `{name}`.", ""]
    return [*lines, "## The script", ""]


def example_text(rest: str) -> str:
    """The rest of an example's docstring, with its lines of commands as code."""
    shown = []
    for line in rest.splitlines():
        command = line.strip().startswith("python ")
        shown.append(f"    {line.strip()}" if command else line)
        if command:
            shown.append("")
    return re.sub(r"(?m)^(?=    python )", "\n", "\n".join(shown)).strip("\n")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the generated pages, and put them into the menu."""
    pages = {"api/index.md": api_index(), **{f"api/{name}.md": api_page(name) for name in modules()}}
    shown = gallery()
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    for path, text in {**pages, **shown, "changes.md": changes, "commands.md": commands()}.items():
        unsought = path == "changes.md" or (path in shown and path != "gallery/index.md")
        if unsought and isinstance(text, str):  # words are looked for in what explains them, not where they are used
            text = f"---\nsearch:\n  exclude: true\n---\n\n{text}"
        files.append(File.generated(config, path, content=text))
    for entry in config.nav:
        if entry.get("API") == "api/":
            entry["API"] = ["api/index.md", *({name: f"api/{name}.md"} for name in modules())]
        if entry.get("Gallery") == "gallery/":
            titles = {
                path: Path(path).stem.replace("_", " ")
                for path in shown
                if path.endswith(".md") and "index" not in path
            }
            entry["Gallery"] = ["gallery/index.md", *({title: path} for path, title in titles.items())]
    return files


def mathml(match: re.Match[str]) -> str:
    """One formula that arithmatex found, as MathML."""
    tag, left, source = match["tag"], match["left"], html.unescape(match["source"]).strip()
    formula = convert(source, display="inline" if left == r"\(" else "block")
    if "\\" in formula or "&#x0005C;" in formula:  # what the converter does not know it leaves as it is
        raise ValueError(f"the formula {source!r} has a command that latex2mathml does not know.")
    return f'<{tag} class="arithmatex">{formula}</{tag}>'


FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">(?P<left>\\[(\[])(?P<source>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
#: Names in code, but for those in links, blocks and headings.
NAME = re.compile(
    r"<a [^>]*>.*?</a>|<pre.*?</pre>|<h\d.*?</h\d>|<code>(?P<name>[\w.]+)(?P<call>\(\))?</code>", re.DOTALL
)


class _Names:
    """Where each public name has its description; full names, and short ones that only one object has."""

    def __init__(self) -> None:
        found: dict[str, set[str]] = {}
        members: set[str] = set()
        for module in modules():
            offered = importlib.import_module(module)
            for name in public_names(offered):
                if inspect.isclass(getattr(offered, name)):
                    members.update(dir(getattr(offered, name)))
                where = f"api/{module}.html#{module}.{name}"
                found.setdefault(name, set()).add(where)
                found.setdefault(f"{module}.{name}", set()).add(where)
            for place, value in met(module).items():
                if inspect.isclass(value):
                    members.update(dir(value))
                found.setdefault(place.rpartition(".")[2], set()).add(f"api/{module}.html#{place}")
            found.setdefault(module, set()).add(f"api/{module}.html")
        # a short name that is also a method's, such as acquire, mostly means the method
        self.places = {
            name: min(places, key=len)  # the shorter module where an object is offered twice
            for name, places in found.items()
            if "." in name or (len(places) == 1 and name not in members)
        }

    def link(self, page: str, name: str, shown: str) -> str:
        """The name as a link, seen from a page; as it was where nothing is known of it."""
        place = self.places.get(name)
        if place is None:
            return shown
        target = posixpath.relpath(place, posixpath.dirname(page) or ".")
        return f'<a class="autorefs" href="{target}">{shown}</a>'


def on_config(config: Any) -> Any:
    """Learn the public names once a build."""
    global _names
    _names = _Names()
    return config


#: What weighs less in the search than pages that explain: reference, examples, and what changed.
_LESS = {"api": 0.3, "gallery": 0.3, "changes.md": 0.1, "papers": 0.3, "benchmarks.md": 0.5}
_LESS |= dict.fromkeys(("results.md", "results-budgets.md", "tried.md"), 0.5)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Let the search show pages that explain first."""
    boost = _LESS.get(page.file.src_uri.partition("/")[0])
    if boost:
        page.meta.setdefault("search", {"boost": boost})
    return markdown


#: Lines of output that are no rows of a table, as none of their words stand far apart.
PROSE = re.compile(r'<span class="go">(?=[^\n]{45})(?!(?:[^\n]*\S  ){2})')


def on_page_content(content: str, *, page: Any, **_: Any) -> str:
    """Turn formulas into MathML, names of ours in the text into links, and let sentences of output be broken."""
    content = PROSE.sub('<span class="go prose">', FORMULA.sub(mathml, content))

    def linked(match: re.Match[str]) -> str:
        shown = match[0]
        return shown if match["name"] is None else _names.link(page.file.dest_uri, match["name"], shown)

    return NAME.sub(linked, content)


#: Menus that the theme names by a label without text, and the title in them that is their name.
UNNAMED = re.compile(
    r'aria-labelledby="__nav_[\d_]+_label"'
    r'(?=[^>]*>\s*<label class="md-nav__title"[^>]*>\s*<span [^>]*></span>\s*(?P<name>[^<]*?)\s*<)'
)
#: The search, which the theme shows as a dialog.
SEARCH = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, **_: Any) -> str:
    """Give names to what the theme leaves without, for those who hear the page: menus, and the search."""
    named = UNNAMED.sub(lambda match: f'aria-label="{match["name"]}"', output)
    return named.replace(SEARCH, f'{SEARCH} aria-label="Search"')
