"""The rules: one file each in `rules/`, named by its code."""

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from textwrap import indent

from scaffold.check import rules
from scaffold.check.source import Source


@dataclass(frozen=True)
class Rule:
    """`find` yields the faulty nodes of a file; `wrong` and `right` are its page and its test."""

    code: str
    name: str
    doc: str
    mend: str
    wrong: str
    right: str
    find: Callable[[Source], Iterator[ast.AST]]

    @property
    def reason(self) -> str:
        return self.doc.split("\n")[0].rstrip(".")

    @property
    def page(self) -> str:
        """What `--explain` shows."""
        wrong, right = (indent(text.strip(), "    ") for text in (self.wrong, self.right))
        parts = (f"{self.code} {self.name}", self.doc, self.mend, "Wrong:", wrong, "Right:", right)
        return "\n\n".join(parts)


@cache
def all_rules() -> tuple[Rule, ...]:
    found = []
    for name in sorted(entry.name for entry in pkgutil.iter_modules(rules.__path__)):
        module = importlib.import_module(f"{rules.__name__}.{name}")
        code, _, words = name.partition("_")
        texts = ((module.__doc__ or "").strip(), module.MEND, module.WRONG, module.RIGHT)
        found.append(Rule(code.upper(), words.replace("_", "-"), *texts, module.find))
    return tuple(found)
