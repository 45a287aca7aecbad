"""The numbers that steer the package, each with what was copied from it as modules were loaded."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "seqclass"


def double(value: Any) -> Any:
    """Twice a number, 1 in place of 0, or all numbers of a tuple, list or dict; None of anything else."""
    if isinstance(value, (tuple, list)) and value:
        parts = [double(part) for part in value]
        return None if None in parts else type(value)(parts)
    if isinstance(value, dict) and value:
        parts = [double(part) for part in value.values()]
        return None if None in parts else dict(zip(value, parts))
    if isinstance(value, float):
        return 2 * float(value) or 1.0
    return (2 * value or 1) if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, eq=False)
class Number:
    module: ModuleType
    owner: Any  # a record, or the module
    name: str

    @property
    def key(self) -> str:
        return f"{self.module.__name__.removeprefix('seqclass.')}.{self.name}"


def numbers() -> Iterator[Number]:
    """All numbers of the package: fields of its tuning records, and what stands by itself."""
    for file in sorted(SOURCE.rglob("*.py")):
        parts = [part for part in file.relative_to(SOURCE).with_suffix("").parts if part != "__init__"]
        if not parts or parts == ["__main__"]:
            continue
        module, source = importlib.import_module(".".join(["seqclass", *parts])), file.read_text("utf-8")
        for name, value in list(vars(module).items()):
            if type(value).__name__.endswith("Tuning") and type(value).__module__ == module.__name__:
                yield from (
                    Number(module, value, field) for field, one in vars(value).items() if double(one) is not None
                )
            elif double(value) is not None and re.search(
                rf"^[\w, ]*\b{name}\b[\w, ]*(: [^=\n]+)? = ", source, re.MULTILINE
            ):
                yield Number(module, module, name)


@dataclass(frozen=True, eq=False)
class Expression:
    """What a module works out as it is loaded: the value of a name, of a field of a class, or of a default."""

    module: ModuleType
    path: tuple[str, ...]
    target: str
    node: ast.expr
    names: frozenset[str]

    @property
    def scope(self) -> Any:
        """The module, class or function that has it."""
        scope: Any = self.module
        for part in self.path:
            scope = inspect.getattr_static(scope, part)
            scope = inspect.unwrap(getattr(scope, "__func__", getattr(scope, "fget", scope)))
        return scope

    def asks(self, number: Number) -> bool:
        """Whether it asks the record of a number for its field."""
        if number.owner is number.module or number.name not in self.names:
            return False
        asked = [node for node in ast.walk(self.node) if isinstance(node, ast.Attribute) and node.attr == number.name]
        return any(vars(self.module).get(ast.unparse(node.value)) is number.owner for node in asked)

    def renew(self) -> None:
        """Work it out again, and put it where it was copied to."""
        scope, value = self.scope, eval(compile(ast.Expression(self.node), "", "eval"), vars(self.module))
        if isinstance(scope, FunctionType):
            set_default(scope, self.target, value)
            return
        setattr(scope, self.target, value)
        for one in heirs(scope) if isinstance(scope, type) else ():
            set_default(vars(one).get("__init__"), self.target, value)


def heirs(kind: type) -> list[type]:
    lower: list[type] = kind.__subclasses__()
    return [kind, *(heir for one in lower for heir in heirs(one))]


def set_default(function: Any, parameter: str, value: Any) -> None:
    if not isinstance(function, FunctionType):
        return
    if function.__kwdefaults__ and parameter in function.__kwdefaults__:
        function.__kwdefaults__[parameter] = value
    names, defaults = function.__code__.co_varnames[: function.__code__.co_argcount], function.__defaults__ or ()
    if parameter in names[len(names) - len(defaults) :]:
        at = names.index(parameter) - len(names)
        function.__defaults__ = (*defaults[:at], value, *defaults[len(defaults) + at + 1 :])


def expressions(module: ModuleType, tree: Any, path: tuple[str, ...] = ()) -> Iterator[Expression]:
    for node in tree.body:
        found: list[tuple[tuple[str, ...], str, ast.expr | None]] = []
        if isinstance(node, ast.ClassDef):
            yield from expressions(module, node, (*path, node.name))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            named, inside = node.args, (*path, node.name)
            positional = [*named.posonlyargs, *named.args][-len(named.defaults) or sys.maxsize :]
            found += [(inside, one.arg, value) for one, value in zip(positional, named.defaults)]
            found += [(inside, one.arg, value) for one, value in zip(named.kwonlyargs, named.kw_defaults)]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found = [(path, node.targets[0].id, node.value)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found = [(path, node.target.id, node.value)]
        for where, target, value in found:
            parts = list(ast.walk(value)) if value is not None else []
            names = {part.id if isinstance(part, ast.Name) else getattr(part, "attr", "") for part in parts}
            if value is not None and names:
                yield Expression(module, where, target, value, frozenset(names))


class Copies:
    """Where else a number stands once all is loaded: as another module imported it, and as it was worked into."""

    def __init__(self) -> None:
        ours = (str(SOURCE), str(ROOT / "tests"))
        loaded = [one for one in sys.modules.values() if str(getattr(one, "__file__", None)).startswith(ours)]
        self.imports: list[tuple[str, str, ModuleType, str]] = []  # from where, what, to where, under which name
        self.expressions: list[Expression] = []
        for module in loaded:
            tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
            for node in [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]:
                self.imports += [(str(node.module), one.name, module, one.asname or one.name) for one in node.names]
            if str(module.__file__).startswith(ours[0]):
                self.expressions += expressions(module, tree)

    def of(self, number: Number) -> tuple[dict[str, set[str]], list[Expression]]:
        """Names by module, and what was worked out by them."""
        names: dict[str, set[str]] = defaultdict(set)
        if number.owner is number.module:
            names[number.module.__name__].add(number.name)
        found: list[Expression] = []
        size = -1
        while size < (size := len(found) + sum(map(len, names.values()))):
            for source, name, module, alias in self.imports:
                if name in names.get(source, ()):
                    names[module.__name__].add(alias)
            for one in self.expressions:
                if one not in found and (one.names & names.get(one.module.__name__, set()) or one.asks(number)):
                    found.append(one)
                    if not one.path:
                        names[one.module.__name__].add(one.target)
        return names, found

    def mutate(self, number: Number) -> None:
        """Double a number, and all that was copied from it."""
        names, found = self.of(number)
        value = double(getattr(number.owner, number.name))
        object.__setattr__(number.owner, number.name, value)
        if number.owner is not number.module:
            set_default(type(number.owner).__init__, number.name, value)
        for one in (None, *found):
            if one is not None:
                one.renew()
            for source, name, module, alias in self.imports:
                if name in names.get(source, ()) and alias in vars(module):
                    setattr(module, alias, getattr(sys.modules[source], name))
