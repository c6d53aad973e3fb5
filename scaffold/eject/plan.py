"""What is found in a script, in the words of our project, and what can't be carried over."""

import ast
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from scaffold.answers.catalog import Value
from scaffold.check.source import last
from scaffold.eject.edits import Edits, margin
from scaffold.eject.flow import Item, value_of
from scaffold.eject.script import DEFINITIONS, Script, imports_of, used_names

TODO = "# TODO:"


@cache
def table(name: str) -> Mapping[str, Any]:
    """A table of this package."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


def snippet(name: str, **words: object) -> str:
    """Lines to write into a project, with these words filled in."""
    return Template(table("code")[name]).safe_substitute(words)


# names of the written modules, and the import that binds them there
RESERVED = dict.fromkeys(table("code")["names"].split(), "")
RESERVED |= dict(imports_of(*ast.parse(table("code")["imports"]).body))
ORDERS = table("code")["orders"]
UNKNOWN = object()
PARSE = ("parse_args", "parse_known_args")


@dataclass(frozen=True)
class Todo:
    place: str
    line: str
    reason: str


@dataclass
class Evaluation:
    """How one set is evaluated."""

    start: str = ""
    step: str = ""
    end: str = ""


@dataclass
class Plan:
    """The project to write."""

    script: Script
    framework: str
    items: list[Item]
    constants: list[Item] = field(default_factory=list)  # of the module, before it trains
    edits: Edits = field(init=False)
    dropped: set[Item] = field(default_factory=set)
    answers: dict[str, Value] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)  # own settings: name -> line in Config
    model: str = ""  # the body of build_model
    loaders: str = ""  # the body of build_loaders
    loaders_take_model: bool = False
    monitors: dict[str, str] = field(default_factory=dict)  # feature: the metric it watches
    sets: dict[str, Evaluation] = field(default_factory=dict)  # of val and test, if there
    optimizer: str = ""  # the body of build_optimizer
    scheduler: str = ""  # the body of build_scheduler
    functions: list[str] = field(default_factory=list)  # of train.py
    batches: str = ""  # what the loop reads for batch, items and weight, if it needs them
    step: str = ""  # lines of the loop, at the left margin; they set `loss`
    epoch_end: str = ""  # after the evaluation
    schedule: str = ""  # what it goes by, if there is one: epoch or step
    logs: bool = False  # whether the step logs values
    keeps_modes: bool = False  # of parts that train or not, as Lightning does
    alone: str = ""  # why it can't run on several processes
    start: list[str] = field(default_factory=list)  # lines for the beginning of main
    comments: list[str] = field(default_factory=list)  # above the first epoch
    end: list[str] = field(default_factory=list)  # lines for its end
    todos: list[Todo] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)  # the script's names of renamed ones

    def __post_init__(self) -> None:
        script, self.edits = self.script, Edits(self.script.text)
        self.text = self.edits.apply  # an expression with all edits
        self.homes = {id(script.tree), *(id(script.source.home(i.node)) for i in self.items)}
        if "__file__" in script.text:
            self.note("__file__ is now the file of the project")
        for name, statement in RESERVED.items():
            rows = script.imports.get(name, statement).split("\n")  # `import torch.fft`, too
            same = any(f"{row}.".startswith(f"{statement}.") for row in rows)
            bound = not same or name in script.definitions
            if bound or (name == "config" and any(name in item.bound for item in self.items)):
                self._rename(name, f"script_{name}")

    def _rename(self, name: str, new: str) -> None:
        """Give another name to what the script binds to a name of the written modules."""
        script, found = self.script, self.script.imports.get(name)
        self.renamed[new] = name
        if found:
            script.imports[new] = f"{found.removesuffix(f' as {name}')} as {new}"
        if node := script.definitions.pop(name, None):
            script.definitions[new] = node
        if isinstance(node, DEFINITIONS):
            start = self.edits.text.index(name, self.edits.span(node)[0])
            self.edits.replace((start, start + len(name)), new)
        if name == "config":
            self.note(f"config of the script is {new} here, beside the settings in config")
        for part in script.source.all(ast.Name):
            if isinstance(part, ast.Name) and part.id == name:
                scope = script.source.scope(part)
                while scope.parent is not None and name not in scope.names:
                    scope = scope.parent
                if id(scope.node) in self.homes:
                    self.edits.replace(part, new)

    def todo(self, node: ast.AST, reason: str, line: str = "") -> str:
        """A comment with the original lines, for the place where they belong."""
        text = line or margin(" " * getattr(node, "col_offset", 0) + self.script.code(node))
        first = next(row for row in text.split("\n") if row and not row.startswith("#"))
        self.todos.append(Todo(self.script.place(node), first, reason))
        rows = "\n".join(f"#   {row}".rstrip() for row in text.split("\n"))
        return f"{TODO} {reason} ({self.script.place(node)})\n{rows}"

    def note(self, text: str) -> None:
        self.notes[text] = None

    def block(self, *nodes: ast.stmt) -> str:
        """Statements that follow each other, with comments and edits, at the left margin."""
        text = self.edits.apply(self.edits.lines(nodes)) if nodes else ""
        return margin(text).rstrip("\n")

    def body(self, function: ast.FunctionDef, until: ast.stmt | None = None) -> str:
        """The statements of a function; its docstring becomes a comment."""
        doc, nodes = ast.get_docstring(function), list(function.body)
        rows = [f"# {row}".rstrip() for row in (doc or "").split("\n") if doc]
        nodes = nodes[1:] if doc else nodes
        if until is not None:
            nodes = nodes[: nodes.index(until)]
        return "\n".join(filter(None, [*rows, self.block(*nodes)]))

    def lines(self, items: Sequence[Item]) -> str:
        """The text of statements, each with the comments above it."""
        return "\n".join(item.text or self.block(item.node) for item in items)

    def definitions_of(self, *texts: str) -> dict[str, list[ast.stmt]]:
        """What texts need of the script's module, by name: a definition, or all that changes it."""
        known, found = self.script.definitions, dict[str, list[ast.stmt]]()
        wanted = set(used_names(*texts))
        while wanted := {name for name in wanted if name in known and name not in found}:
            for name in wanted:
                old = self.renamed.get(name, name)
                rows = [item.node for item in self.constants if old in item.touched]
                found[name] = [known[name]] if isinstance(known[name], DEFINITIONS) else rows
            codes = [self.block(node) for name in wanted for node in found[name]]
            wanted = set(used_names(*codes))
        return found

    def latest(self, node: ast.expr, items: Sequence[Item] | None = None) -> ast.expr:
        """An expression, or what its name was last bound to alone."""
        for _ in range(4):
            name = getattr(node, "id", "")
            rows = self.items if items is None else items
            binding = [item for item in rows if name in item.bound]
            constant = None if binding else self.script.definitions.get(name)
            found = value_of(binding[-1].node if binding else constant, name)
            if found is None:
                break
            node = found
        return node

    def value(self, node: ast.expr | None) -> Any:
        """The value of a literal, its name or a setting: None without one, UNKNOWN for others."""
        found = None if node is None else self.latest(node)
        match found:
            case ast.Attribute(value=owner, attr=name) if name in self.fields:
                if last(self.latest(owner)) in PARSE:
                    return ast.literal_eval(self.fields[name].partition(" = ")[2])
        try:
            return None if found is None else ast.literal_eval(found)
        except (ValueError, TypeError, SyntaxError):
            return UNKNOWN
