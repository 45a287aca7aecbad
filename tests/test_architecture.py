"""What the package promises about its own shape: arrows that run one way, light imports, documented names."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import pytest

import seqclass
from seqclass.costs import Costs
from seqclass.datasets.catalog import GENERATORS
from seqclass.persistence import save
from seqclass.selection import SAOLA

PACKAGE = Path(seqclass.__file__).parent
REPOSITORY = Path(__file__).resolve().parents[1]

#: A part imports parts of its own rank or below. Anything new must be given its place here.
RANKS = {
    "_utils": 0,
    **dict.fromkeys(["costs", "discretize", "labels"], 1),
    **dict.fromkeys(["bn", "pomdp", "selection", "datasets", "stats", "_chunks"], 2),
    "agent": 3,
    "fitting": 4,
    **dict.fromkeys(["_base", "classifier", "recipes", "adaptive_classifier"], 5),
    "evaluation": 6,
    **dict.fromkeys(["metrics", "large", "drift", "diagnostic", "analysis", "exams", "testing"], 7),
    **dict.fromkeys(["offpolicy", "persistence", "gym", "early"], 7),
    "experiment": 8,
    "plots": 9,
    **dict.fromkeys(["report", "export"], 10),
    "serve": 11,
    **dict.fromkeys(["cli", "__main__"], 12),
}
#: Of equal rank, and yet none imports another.
SIBLINGS = {"bn", "pomdp", "selection", "datasets"}
#: The rooms of pomdp; modules outside any room are the joint that all build on.
ROOMS = {"alpha": 1, "execution": 1, "bounds": 2, "solvers": 3, "unrolled": 3, "sweeps": 4, "bridge": 4, "files": 4}
#: What no module loads when it is imported: imported inside the functions that need it.
HEAVY = {"pandas", "pgmpy", "pomdp_py", "matplotlib"}
#: All that may be imported inside a function.
DEFERRED = HEAVY | {"PIL", "pyarrow", "networkx", "tqdm", "click", "river", "sklearn", "dask", "datasketches"}
#: Imported against the arrows all the same: a model file may hold what nobody has imported yet, the package's names are
#: loaded when they are asked for, and a result draws itself when it is told to.
ON_DEMAND = {
    ("seqclass._utils.model_files", "(computed at run time)"),
    ("seqclass", "(computed at run time)"),
    ("seqclass.analysis.information", "seqclass.plots"),
    ("seqclass.experiment.results", "seqclass.plots"),
    ("seqclass.pomdp.alpha", "seqclass.plots"),
}
#: Parts that the package's own names leave alone: whoever wants them imports them.
ON_DEMAND_PARTS = {
    *(
        "analysis",
        "cli",
        "datasets",
        "diagnostic",
        "drift",
        "early",
        "exams",
        "experiment",
        "export",
        "gym",
        "large",
        "offpolicy",
        "plots",
        "report",
        "selection",
        "serve",
    )
}
#: What they may load beyond what `sklearn.base` has loaded, and how many modules of them.
LIGHT = {"sklearn", "scipy", "numpy", "joblib", "threadpoolctl"}
MOST_MODULES = 25
MAX_LINES = 800
#: Tests that name what is private: fewer are welcome.
MOST_REACHING = 18


class Import(NamedTuple):
    """One imported module, and how it is imported."""

    target: str
    line: int
    deferred: bool
    typing_only: bool


def module_name(file: Path, package: Path) -> str:
    parts = [package.name, *file.relative_to(package).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache  # a package, once looked at, does not change
def module_files(package: Path) -> dict[str, Path]:
    return {module_name(file, package): file for file in sorted(package.rglob("*.py"))}


@cache  # many checks read the same files
def parse(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def functions(text: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(parse(text)) if isinstance(node, ast.FunctionDef)]


def last_name(node: ast.AST) -> str:
    """What is called, or asked for, without where it is found."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def is_type_checking(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and last_name(node.test) == "TYPE_CHECKING"


@cache
def imports(file: Path, package: Path) -> tuple[Import, ...]:
    """Every import of a file, relative ones resolved, and ``from package import module`` to the module."""
    return tuple(_imports(file, package))


def _imports(file: Path, package: Path) -> Iterator[Import]:
    names = module_files(package)
    here = module_name(file, package).split(".")
    if file.name != "__init__.py":
        here = here[:-1]

    def targets(node: ast.AST) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            if origin == package.name and all(alias.name == "__version__" for alias in node.names):
                return []
            inner = [f"{origin}.{alias.name}" for alias in node.names]
            return list(dict.fromkeys(name if name in names else origin for name in inner))
        if isinstance(node, ast.Call) and last_name(node.func) in ("import_module", "__import__"):
            argument = node.args[0] if node.args else None
            known = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            return [argument.value if known else "(computed at run time)"]
        return []

    def walk(node: ast.AST, deferred: bool, typing_only: bool) -> Iterator[Import]:
        for target in targets(node):
            if not (deferred and (module_name(file, package), target) in ON_DEMAND):
                yield Import(target, node.lineno, deferred, typing_only)
        deferred = deferred or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if is_type_checking(node):
            for child in node.body:
                yield from walk(child, deferred, True)
            for child in node.orelse:
                yield from walk(child, deferred, typing_only)
            return
        for child in ast.iter_child_nodes(node):
            if calls or not isinstance(child, ast.expr):
                yield from walk(child, deferred, typing_only)

    text = file.read_text(encoding="utf-8")
    calls = "import_module" in text or "__import__" in text  # else no expression imports anything
    yield from walk(parse(text), False, False)


def part_of(module: str) -> str:
    return module.split(".")[1]


def broken_arrows(package: Path) -> list[str]:
    """Imports between our own parts that run against the arrows."""
    found = []
    for name, file in module_files(package).items():
        if name == package.name:  # the facade, which may import everything and which nothing imports
            continue
        part = part_of(name)
        if part not in RANKS:
            found.append(f"{name}: give {part} a rank in test_architecture.py")
            continue
        for target, line, *_ in imports(file, package):
            if target == package.name:
                found.append(f"{name}:{line} imports the facade {target}")
            elif target.startswith(f"{package.name}."):
                other = part_of(target)
                upward = RANKS.get(other, 99) > RANKS[part]
                if upward or (part != other and {part, other} <= SIBLINGS):
                    found.append(f"{name}:{line} imports {target}")
    return found


def broken_rooms(package: Path) -> list[str]:
    """Imports between the rooms of pomdp that run against the arrows."""

    def room(module: str) -> str:
        parts = module.split(".")
        return parts[2] if len(parts) > 2 and parts[1] == "pomdp" and parts[2] in ROOMS else ""

    return [
        f"{name}:{i.line} imports {i.target}"
        for name, file in module_files(package).items()
        if part_of(f"{name}.") == "pomdp" and name != f"{package.name}.pomdp"
        for i in imports(file, package)
        if room(i.target) != room(name) and ROOMS.get(room(i.target), 0) >= max(ROOMS.get(room(name), 0), 1)
    ]


def cycle(package: Path) -> list[str]:
    """A circle of modules that import one another, if only for types, or nothing."""
    graph = {
        name: {i.target for i in imports(file, package) if i.target.startswith(f"{package.name}.")}
        for name, file in module_files(package).items()
    }
    graph = {name: targets - {name} for name, targets in graph.items() if name != package.name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def hidden_imports(package: Path) -> list[str]:
    """Imports inside functions beyond the heavy packages that have to be."""
    return [
        f"{name}:{i.line} imports {i.target} inside a function"
        for name, file in module_files(package).items()
        for i in imports(file, package)
        if i.deferred and i.target.split(".")[0] not in DEFERRED
    ]


def heavy_imports(package: Path) -> list[str]:
    """Imports at module level of what must be loaded only when it is needed."""
    return [
        f"{name}:{i.line} imports {i.target} at module level"
        for name, file in module_files(package).items()
        for i in imports(file, package)
        if not i.deferred and not i.typing_only and i.target.split(".")[0] in HEAVY
    ]


@pytest.mark.parametrize("check", [broken_arrows, broken_rooms, cycle, hidden_imports, heavy_imports])
def test_imports(check: Any) -> None:
    assert check(PACKAGE) == []


BROKEN = {
    broken_arrows: {
        "bn/a.py": "from ..pomdp import b",
        "pomdp/c.py": "import toy.selection.x",
        "costs.py": "from .classifier import Classifier",
        "_arrays.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import costs",
        "metrics.py": "def f():\n    from toy.plots import show",
        "plots.py": "import toy",
        "novelty.py": "import numpy",
    },
    broken_rooms: {
        "pomdp/alpha/a.py": "from toy.pomdp.solvers import base",
        "pomdp/walk.py": "from toy.pomdp.alpha.a import X",
        "pomdp/bridge/c.py": "from toy.pomdp.files import d",
    },
    cycle: {
        "session.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import recipes",
        "recipes.py": "from .session import Session",
    },
    hidden_imports: {
        "a.py": "def f():\n    from . import b",
        "b.py": "class A:\n    async def f(self):\n        import json",
        "c.py": "import importlib\ndef f(name):\n    return importlib.import_module(name)",
        "d.py": "def f():\n    return __import__('json')",
    },
    heavy_imports: {
        "a.py": "import matplotlib.pyplot as plt",
        "b.py": "try:\n    import pandas\nexcept ImportError: pass",
    },
}
SOUND = {
    "pomdp/alpha/a.py": "from toy.pomdp import walk",
    "pomdp/solvers/b.py": "from toy.pomdp.bounds.c import X",
    "_utils/arrays.py": "from toy import __version__\nimport numpy",
    "bn/__init__.py": "from ._base import Model\nfrom .._utils.arrays import chunks",
    "bn/_base.py": "from toy._utils import arrays\ndef f():\n    import pandas as pd\n    from pgmpy import models",
    "recipes.py": "import typing\nfrom .classifier import C\nif typing.TYPE_CHECKING:\n    import pandas",
    "classifier.py": "from . import bn",
    "__init__.py": "from .classifier import C",
}


def plant(files: dict[str, str], folder: Path) -> Path:
    for name, text in ({"__init__.py": "", "pomdp/b.py": "", "selection/x.py": ""} | files).items():
        (folder / "toy" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "toy" / name).write_text(text)
    return folder / "toy"


@pytest.mark.parametrize("check", BROKEN)
def test_the_checks_catch_what_they_are_for(check: Any, tmp_path: Path) -> None:
    package = plant(BROKEN[check], tmp_path)
    found = check(package)
    for name in BROKEN[check]:
        assert any(module_name(package / name, package) in line for line in found), name


@pytest.mark.parametrize("check", BROKEN)
def test_the_checks_let_pass_what_is_sound(check: Any, tmp_path: Path) -> None:
    assert check(plant(SOUND, tmp_path)) == []


def run_fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


NEW = "print(*sorted(name for name in set(sys.modules) - before if name.split('.')[0] not in sys.stdlib_module_names))"


def loaded(*codes: str, before: str = "") -> list[list[str]]:
    """Modules beyond the standard library that a fresh process has loaded after each of some codes."""
    steps = "\n".join(f"{code}\n{NEW}" for code in codes)
    told = run_fresh(f"import sys\n{before}\nbefore = set(sys.modules)\n{steps}").splitlines()
    return [line.split() for line in told]


def test_import_loads_nothing_else() -> None:
    """What is imported decides how long it takes; ``benchmarks/imports.py`` has the seconds."""
    assert loaded("import seqclass; dir(seqclass)") == [["seqclass"]]


@pytest.mark.slow
def test_a_name_loads_little_and_a_command_that_reads_a_model_no_data_sets() -> None:
    commands = "import seqclass.cli.predict, seqclass.cli.show"
    found, then = loaded("from seqclass import *", commands, before="import sklearn.base")
    parts = {part_of(name) for name in found if name.startswith("seqclass.")}
    foreign = [name for name in found if name.split(".")[0] != "seqclass"]
    assert {"classifier", "bn", "pomdp"} <= parts  # it does see them
    assert not parts & ON_DEMAND_PARTS
    assert {name.split(".")[0] for name in foreign} <= LIGHT
    assert len(foreign) <= MOST_MODULES
    assert "seqclass.cli.predict" in then
    assert "sklearn.datasets" not in then


def test_the_facade_has_each_name_once_for_all_readers() -> None:
    """``__all__``, where its names live, and what type checkers read are one list."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    typed = {
        alias.name: node.module
        for block in tree.body
        if is_type_checking(block)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {name: f"seqclass.{home}" for name, home in seqclass._HOMES.items()}
    assert {*typed, "__version__"} == set(seqclass.__all__)
    for name, home in typed.items():
        assert getattr(seqclass, name) is getattr(importlib.import_module(home), name)


@pytest.mark.slow
def test_names_modules_and_files_need_no_import_before(tmp_path: Path) -> None:
    path = str(tmp_path / "x.seq")
    save([Costs([0.1, 0.2]).prices(2), SAOLA()], path)
    prices, selector, perseus, plots, *names = run_fresh(
        f"import seqclass; print(*(type(part).__name__ for part in seqclass.load({path!r})))\n"
        "print(seqclass.pomdp.Perseus.__name__, seqclass.plots.__name__, *dir(seqclass))"
    ).split()
    assert (prices, selector, perseus, plots) == ("Prices", "SAOLA", "Perseus", "seqclass.plots")
    assert {"SequentialClassifier", "pomdp", "bn", "selection", "load"} <= set(names)
    assert names == sorted(names)
    assert not [name for name in names if name.startswith("_") and name not in seqclass.__all__]
    for name in ("bogus", "_bogus"):
        with pytest.raises(AttributeError, match=f"'seqclass' has no attribute '{name}'"):
            getattr(seqclass, name)


def is_public(module: str) -> bool:
    return not any(part.startswith("_") for part in module.split("."))


PUBLIC_MODULES = [name for name in module_files(PACKAGE) if is_public(name)]


def own_attributes(cls: type) -> dict[str, Any]:
    """Attributes of a class, and of its bases in the package."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith(PACKAGE.name)]
    return {name: value for base in reversed([cls, *ours]) for name, value in vars(base).items()}


def undocumented(name: str, thing: Any) -> Iterator[str]:
    """What lacks a docstring, or an example, of a public function or class."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return
    text = inspect.cleandoc(thing.__doc__ or "")  # its own: an inherited one would hide that it has none
    if not text:
        yield f"{name} has no docstring"
    elif not re.search(r"^Examples\n-{8}\n(?s:.*)^\s*>>> ", text, re.MULTILINE):
        yield f"{name} has no runnable example under Examples"
    if inspect.isclass(thing):
        for attribute, value in own_attributes(thing).items():
            value = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            documents = inspect.isfunction(value) or isinstance(value, property)
            if documents and not attribute.startswith("_") and not inspect.getdoc(getattr(thing, attribute)):
                yield f"{name}.{attribute} has no docstring"


def undescribed(name: str, thing: Any) -> Iterator[str]:
    """Parameters that a list of parameters leaves out or makes up, of a function, or of a class and its methods."""
    if inspect.isclass(thing):
        yield from _left_out(name, thing.__doc__, vars(thing).get("__init__"))
        for attribute, value in own_attributes(thing).items():
            value = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            if inspect.isfunction(value) and not attribute.startswith("_"):
                yield from _left_out(f"{name}.{attribute}", value.__doc__, value)
    elif inspect.isfunction(thing):
        yield from _left_out(name, thing.__doc__, thing)


def _left_out(name: str, doc: str | None, function: Any) -> Iterator[str]:
    found = re.search(
        r"^Parameters\n-{10}\n((?s:.*?))(?:^\w[\w ]*\n-{3,}$|\Z)", inspect.cleandoc(doc or ""), re.MULTILINE
    )
    if found is None or not inspect.isfunction(function):
        return
    heads = re.findall(r"^(\S.*?)(?: : .*)?$", found[1], re.MULTILINE)
    listed = [part.strip().lstrip("*") for head in heads for part in head.split(",")]
    taken = inspect.signature(function).parameters
    for parameter in taken:
        if parameter not in (*listed, "self", "cls") and not parameter.startswith("_"):
            yield f"{name} does not describe {parameter}"
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        yield from (
            f"{name} describes {parameter}, which it does not take" for parameter in listed if parameter not in taken
        )


def seen_by_users() -> dict[str, Any]:
    """Public names, what has its place beside them in the reference, and data sets to draw."""
    places = (REPOSITORY / "tests" / "public_names.txt").read_text("utf-8").splitlines()
    hooks = ast.parse((REPOSITORY / "docs" / "_hooks.py").read_text("utf-8")).body
    [met] = [node.value for node in hooks if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MET"]
    places += [f"seqclass.{place}" for named in ast.literal_eval(met).values() for place in named]
    found = {
        place: getattr(importlib.import_module(place.rpartition(".")[0]), place.rpartition(".")[2]) for place in places
    }
    return found | {make.__name__: make for make in (getattr(make, "func", make) for make in GENERATORS.values())}


def test_what_users_see_is_documented() -> None:
    things = seen_by_users()
    assert len(things) > 200
    assert [line for name, thing in things.items() for line in undocumented(name, thing)] == []
    assert [line for name, thing in things.items() for line in undescribed(name, thing)] == []


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_modules_are_documented(name: str) -> None:
    assert importlib.import_module(name).__doc__, f"{name} has no docstring"


def test_the_documentation_check_catches_what_it_is_for() -> None:
    class Bare:
        """Summary."""

        def method(self) -> None:
            pass

    def silent() -> None:
        pass

    found = [*undocumented("Bare", Bare), *undocumented("silent", silent)]
    assert [line.split()[0] for line in found] == ["Bare", "Bare.method", "silent"]
    assert list(undocumented("constant", 3)) == []


def test_the_check_of_parameters_catches_what_it_is_for() -> None:
    def told(a: int, b: int, *more: int, c: int = 0) -> None:
        """Summary.

        Parameters
        ----------
        a, b : int
            Two.
        *more : int
            Others.

        Returns
        -------
        c : None
        """

    def short(a: int) -> None:
        """Summary.

        Parameters
        ----------
        a, gone : int
            Two.
        """

    assert list(undescribed("told", told)) == ["told does not describe c"]
    assert list(undescribed("short", short)) == ["short describes gone, which it does not take"]
    assert list(undescribed("constant", 3)) == []


def too_long(files: Iterable[Path], root: Path) -> dict[str, int]:
    """Files of more lines than there may be, by their paths."""
    lengths = {file.relative_to(root).as_posix(): len(file.read_text("utf-8").splitlines()) for file in files}
    return {name: lines for name, lines in lengths.items() if lines > MAX_LINES}


def test_files_are_short() -> None:
    assert too_long(module_files(PACKAGE).values(), PACKAGE) == {}
    assert too_long([*REPOSITORY.glob("examples/*.py"), *REPOSITORY.glob("benchmarks/*.py")], REPOSITORY) == {}


#: Most public members of the types that join the parts; what one reader alone needs is a function of its module.
MOST_MEMBERS = {
    "pomdp.problem.AcquisitionProblem": 24,
    "pomdp.problem.BeliefState": 20,
    "pomdp.policy.Policy": 10,
    "agent.agent.Agent": 24,
}
#: Most numbers at module level in the whole package: those that steer an algorithm stand in a record of their module.
MOST_NUMBERS = 134


def members(source: str, name: str) -> set[str]:
    """Public members of a class: what its body defines, and what its constructor sets."""
    tree = ast.parse(source)
    [cls] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    names = {node.name for node in cls.body if isinstance(node, ast.FunctionDef)}
    names |= {
        node.target.id for node in cls.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    stores = (node for node in ast.walk(cls) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    names |= {node.attr for node in stores if isinstance(node.value, ast.Name) and node.value.id == "self"}
    return {one for one in names if not one.startswith("_")}


#: What a function has in it that takes one of them as anything; few files need to be read closer.
ANYTHING = re.compile(r"\b(?:problem|info|belief|policy)\s*:[^\[,)=]*\bAny\b")


def untyped(source: str) -> list[str]:
    """Functions that take a problem, a belief or a policy of any type."""
    if not ANYTHING.search(source):
        return []
    return [
        f"{function.name}({argument.arg})"
        for function in functions(source)
        for argument in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        if argument.arg in ("problem", "info", "belief", "policy")
        and argument.annotation is not None
        and "Any" in re.findall(r"\w+", ast.unparse(argument.annotation).split("[")[0])
    ]


def numbers(source: str) -> int:
    """How many numbers stand at module level, those of a tuple, list or dict one by one."""

    def count(node: ast.AST) -> int:
        if isinstance(node, ast.Constant):
            return int(isinstance(node.value, (int, float)) and not isinstance(node.value, bool))
        if isinstance(node, ast.UnaryOp):
            return count(node.operand)
        if isinstance(node, ast.BinOp):
            return min(count(node.left), count(node.right))
        if isinstance(node, (ast.Tuple, ast.List)):
            return sum(map(count, node.elts))
        return sum(map(count, node.values)) if isinstance(node, ast.Dict) else 0

    body = [node for node in parse(source).body if isinstance(node, (ast.Assign, ast.AnnAssign))]
    return sum(count(node.value) for node in body if node.value is not None)


def test_the_types_that_join_the_parts_stay_small() -> None:
    for path, most in MOST_MEMBERS.items():
        module, _, name = path.rpartition(".")
        source = (PACKAGE / f"{module.replace('.', '/')}.py").read_text("utf-8")
        assert len(members(source, name)) <= most, path
    assert members("class A:\n    x: int\n    def f(self):\n        self.y = self._z = 1", "A") == {"x", "f", "y"}


def test_problems_beliefs_and_policies_have_types() -> None:
    files = module_files(PACKAGE).values()
    assert {str(file): names for file in files if (names := untyped(file.read_text("utf-8")))} == {}
    assert untyped("def f(problem: Any, belief: 'Any | None', other: Any): ...") == ["f(problem)", "f(belief)"]


def test_numbers_stand_with_what_they_steer() -> None:
    assert sum(numbers(file.read_text("utf-8")) for file in module_files(PACKAGE).values()) <= MOST_NUMBERS
    assert numbers("A = 1\nB = (-2, 3.0)\nC: int = 2**4\nD = {'a': 1}\nE = True\nF = 'x'\ndef f():\n    g = 1") == 5


#: Past participles, and words that look so and are none.
PARTICIPLE = re.compile(
    r"\w*(ed|wn)|bought|built|begun|chosen|done|forgotten|found|frozen|given|gone|heard|held|hidden|kept|laid|left|lost"
    r"|made|meant|met|paid|proven|said|seen|sent|sold|sought|spent|spoken|stood|swept|taken|taught|thought|told|won|written"
)
NO_PARTICIPLES = {
    "down",
    "embed",
    "exceed",
    "feed",
    "markdown",
    "need",
    "own",
    "proceed",
    "seed",
    "shed",
    "speed",
    "unknown",
}
#: Functions and methods whose name begins with a past participle, which is neither a verb nor a noun. Those that are
#: left are words of the field (a paired t test, an expected value, a realised cost), or public.
MOST_PARTICIPLES = 29


def participles(source: str) -> list[str]:
    """Functions and methods of a file named by a past participle; properties may be adjectives."""
    result = []
    for node in functions(source):
        word, *_ = node.name.strip("_").split("_")
        if word not in NO_PARTICIPLES and PARTICIPLE.fullmatch(word):
            adjective = any(re.search(r"property|setter", ast.unparse(one)) for one in node.decorator_list)
            result += [] if adjective else [node.name]
    return result


def test_functions_are_named_by_verbs_and_nouns() -> None:
    found = [name for file in module_files(PACKAGE).values() for name in participles(file.read_text("utf-8"))]
    assert len(found) <= MOST_PARTICIPLES, found
    assert participles(
        "def found(): ...\ndef _drawn_cases(): ...\nclass A:\n    def kept_on(self): ...\n    @cached_property\n"
        "    def fitted(self): ...\ndef seed(): ...\ndef draw_cases(): ...\ndef own_names(): ..."
    ) == ["found", "_drawn_cases", "kept_on"]


#: A class that is there to be asked for: what others derive from, or what code is written against.
BASE = re.compile(r"Base[A-Z]")
#: Where one concrete class of ours is told from others outside its file, and why a hook would be worse. What users give
#: in several kinds is turned into one at the door; the classes that programs are written of are those that are known.
TOLD_APART = {
    ("agent/_coding.py", "Discretizer"): "a discretiser may be any transformer, which has no hook of ours",
    **dict.fromkeys(
        [
            ("experiment/grid.py", "Dataset"),
            ("pomdp/rules.py", "SkipLogic"),
        ],
        "an argument of several kinds",
    ),
    ("analysis/information.py", "BeliefState"): "P(class) alone, of one case, or a belief",
    ("adaptive_classifier.py", "Adaptive"): "it builds its ways itself, and visits change those of one kind",
    ("experiment/methods.py", "Costs"): "settings of costs are not those of a method",
    ("fitting/_planning.py", "Adaptive"): "its settings are read for the fixed order beside it",
    ("pomdp/solvers/ordering/observed.py", "RulePolicy"): "orders of training rows are known there only",
}


def test_nothing_is_taken_out_of_modules_that_are_loaded_late() -> None:
    """Which would load them at once: commands that read a model start without them."""
    late = re.compile(r"^from (pandas|scipy\.stats|scipy\.optimize|scipy\.spatial|numpy\.f2py)\b[\w.]* import", re.M)
    assert [file for file in module_files(PACKAGE).values() if late.search(file.read_text("utf-8"))] == []


TESTS_OF_CLASS = ("isinstance", "issubclass")


def class_tests(package: Path) -> set[tuple[str, str]]:
    """Files that test for a concrete class of ours that is defined elsewhere, and the class.

    Checks of what a file holds, assertions, protocols, abstract classes, bases and errors do not count.
    """
    homes: dict[str, set[Path]] = {}
    abstract: set[str] = set()
    trees = {file: parse(file.read_text("utf-8")) for file in module_files(package).values()}
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, set()).add(file)
                text = " ".join(map(ast.unparse, node.bases))
                if re.search(r"\b(Protocol|ABC)\b|(Error|Exception|Warning)\b", text):
                    abstract.add(node.name)

    def walk(file: Path, tree: ast.Module) -> Iterator[tuple[str, str]]:
        lines = file.read_text("utf-8").splitlines()
        texts = ("\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in tree.body)
        left: list[tuple[ast.AST, bool]] = [
            (node, False) for node, text in zip(tree.body, texts) if any(name in text for name in TESTS_OF_CLASS)
        ]
        while left:
            node, checks = left.pop()
            name = last_name(node.func) if isinstance(node, ast.Call) else ""
            if name in TESTS_OF_CLASS and isinstance(node, ast.Call) and len(node.args) == 2 and not checks:
                for part in ast.walk(node.args[1]):
                    called = last_name(part)
                    if file not in homes.get(called, {file}) and called not in abstract and not BASE.match(called):
                        yield file.relative_to(package).as_posix(), called
            checks = checks or name == "require" or isinstance(node, ast.Assert)
            checks = checks or (isinstance(node, ast.FunctionDef) and node.name == "_check_stored")
            left += [(child, checks) for child in ast.iter_child_nodes(node)]

    aside = package / "persistence" / "_checks.py"
    return {found for file, tree in trees.items() if file != aside for found in walk(file, tree)}


def test_classes_are_told_apart_where_that_is_better_than_a_hook() -> None:
    assert class_tests(PACKAGE) == set(TOLD_APART)


def test_tests_for_classes_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "class A: ...\nclass P(Protocol): ...\nclass BaseB: ...\nclass Wrong(ValueError): ...\nisinstance(x, A)\n"
    )
    (tmp_path / "b.py").write_text(
        "from a import A, P, BaseB, Wrong\nif isinstance(x, (A, str)): pass\nassert isinstance(x, A)\n"
        "isinstance(x, (P, BaseB, Wrong, int))\nrequire(isinstance(x, A))\n"
        "def _check_stored(self):\n    return isinstance(self, A)\n"
    )
    (tmp_path / "c.py").write_text("import a\nissubclass(x, a.A)\n")
    assert class_tests(tmp_path) == {("b.py", "A"), ("c.py", "A")}


#: A text that names a module of ours, or what is in one, as what a test patches is often named; or that is code.
DOTTED = re.compile(rf"\A({PACKAGE.name}(?:\.\w+)+)\.?\Z|(?:from|import) ({PACKAGE.name}(?:\.\w+)+)")


#: What a file has in it that names them; few need to be read closer.
PRIVATE = re.compile(rf"\b{PACKAGE.name}[\w.]*\._|\bfrom {PACKAGE.name}[\w.]* import (?:\([^)]*\b_|.*\b_)")


def private_names(file: Path) -> list[str]:
    """Private modules of ours, and private names, that a file imports or holds as a text."""
    found = []
    text = file.read_text("utf-8")
    for node in ast.walk(ast.parse(text)) if PRIVATE.search(text) else ():
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE.name):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith(PACKAGE.name)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [whole or imported for whole, imported in DOTTED.findall(node.value)]
    return [name for name in found if not is_public(name.replace("__version__", ""))]


def test_few_tests_reach_into_private_rooms() -> None:
    """Tests that reach into private rooms: no more than there are."""
    tests = [file for file in (REPOSITORY / "tests").rglob("*.py") if file != Path(__file__).resolve()]
    assert len([file for file in tests if private_names(file)]) <= MOST_REACHING


def test_private_names_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "from seqclass._utils import text\nfrom seqclass import load\nimport seqclass.bn._em\n"
        "patch('seqclass.bn.tree._most', 3)\npatch(f'seqclass._utils.text.{name}', 3)\n"
        "patch('seqclass.bn.tree.most', 3)\nprint('seqclass._utils is a room')\n"
        "run('import sys; from seqclass.bn._pgmpy import read')\n"
    )
    assert sorted(private_names(tmp_path / "a.py")) == [
        "seqclass._utils.text",
        "seqclass._utils.text",
        "seqclass.bn._em",
        "seqclass.bn._pgmpy",
        "seqclass.bn.tree._most",
    ]


def test_the_check_of_lengths_sees_files_of_one_name(tmp_path: Path) -> None:
    for folder, lines in (("a", MAX_LINES + 1), ("b", 1)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("\n" * lines)
    assert too_long(sorted(tmp_path.rglob("*.py")), tmp_path) == {"a/__init__.py": MAX_LINES + 1}


#: Spelt so that this file does not hold them itself.
FOREIGN_PATH = re.compile("|".join([r"(?<![\w.:/-])/" + r"(?:work|root)(?![\w-])", r"(?<![\w.:/-])/" + "tmp/"]))


def published_files() -> list[Path]:
    """The files of the repository: those git tracks, or all but leftovers where there is no git."""
    if (REPOSITORY / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
        files = [REPOSITORY / name for name in listed.split("\0") if name]
    else:
        leftovers = re.compile(r"(^|/)(\.?venv|build|dist|site|__pycache__|\.\w+_cache|\.hypothesis|\S+\.egg-info)/")
        files = [f for f in REPOSITORY.rglob("*") if not leftovers.search(f.relative_to(REPOSITORY).as_posix())]
    return [file for file in files if file.is_file()]


@pytest.mark.parametrize("text, found", [("in /wo" + "rk", 1), ("'/tm" + "p/x'", 1), ("a/work, /workflow", 0)])
def test_the_path_check_catches_what_it_is_for(text: str, found: int) -> None:
    assert len(FOREIGN_PATH.findall(text)) == found


def test_no_file_names_a_path_of_one_machine() -> None:
    found = []
    for file in published_files():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture, say
            continue
        if FOREIGN_PATH.search(text):  # which no file has, so that few are cut into lines
            lines = enumerate(text.splitlines(), 1)
            found += [f"{file.name}:{i}: {line}" for i, line in lines if FOREIGN_PATH.search(line)]
    assert found == []
