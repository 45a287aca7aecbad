"""Read our docstrings as Markdown: the few marks of reStructuredText in them are rewritten before they are parsed."""

from __future__ import annotations

import re
from typing import Any

import griffe

RULES = (
    # roles, and the tilde that hides all but the last part of a name
    (re.compile(r":(?:py:)?(?:class|func|meth|mod|attr|obj):`~?([^`]+)`"), r"`\1`"),
    # citations in the text, and the list of references
    (re.compile(r"\[(\d+)\]_"), r"[\1]"),
    (re.compile(r"^( *)\.\. \[(\d+)\] ", re.MULTILINE), r"\1[\2] "),
)


def as_markdown(text: str) -> str:
    """Return a docstring without marks of reStructuredText."""
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return re.sub(r"\n( *)(\[\d+\] )", r"\n\n\1\2", text)


class Rst(griffe.Extension):
    """Rewrite every docstring that is loaded."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called once for each object, before its docstring is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
