"""What is found in a script, in the words of our project, and what can't be carried over."""

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from scaffold.answers.catalog import Value
from scaffold.eject.edits import Edits, dedent
from scaffold.eject.flow import Item, needed, value_of
from scaffold.eject.script import DEFINITIONS, Script, methods, used_names

TODO = "# TODO:"
OTHER_CONFIG = "script_config"
OWN = """
    after_training build_loaders build_model build_optimizer build_scheduler check_environment
    count_steps describe evaluate evaluate_test find_checkpoints format_metrics keep_columns log
    main parse_config progress_bar save_weights stop_on_nan write_config BestModel Checkpoints
    Config EarlyStopping Meters MetricsFile Progress RunningLoss
"""
RESERVED = {  # names of the written modules, and the import that binds them there
    **dict.fromkeys(OWN.split(), ""),
    "Accelerator": "from accelerate import Accelerator",
    "broadcast_object_list": "from accelerate.utils import broadcast_object_list",
    "find_batch_size": "from accelerate.utils import find_batch_size",
    "islice": "from itertools import islice",
    "nn": "from torch import nn",
    "os": "import os",
    "Optimizer": "from torch.optim import Optimizer",
    "set_seed": "from accelerate.utils import set_seed",
    "sys": "import sys",
    "time": "import time",
    "torch": "import torch",
}
UNKNOWN = object()


@dataclass(frozen=True)
class Todo:
    place: str
    line: str
    reason: str


@dataclass
class Loop:
    """What happens in the loop, as lines of code at the left margin. Empty: nothing."""

    before: str = ""  # the first epoch
    epoch_start: str = ""
    step: str = ""  # sets `loss`
    update: str = ""  # instead of our backward, clipping and step: manual optimisation
    after_update: str = ""
    epoch_end: str = ""  # after the evaluation
    schedule: str = ""  # after that, for a schedule of epochs
    after: str = ""  # the last epoch
    logs: bool = False  # whether the step logs values
    alone: str = ""  # why it can't run on several processes


@dataclass
class Evaluation:
    """How one set is evaluated. `values` is what is logged."""

    start: str = ""
    step: str = ""
    end: str = ""


@dataclass
class Plan:
    """The project to write."""

    script: Script
    framework: str
    items: list[Item]
    edits: Edits = field(init=False)
    dropped: set[Item] = field(default_factory=set)
    answers: dict[str, Value] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)  # own settings: name -> line in Config
    limit: int = 0  # batches per epoch
    model: str = ""  # the body of build_model
    loaders: str = ""  # the body of build_loaders
    loaders_take_model: bool = False
    data_functions: list[str] = field(default_factory=list)  # of data.py
    # the metric that best_model and early_stopping watch, in place of val_loss
    monitors: dict[str, str] = field(default_factory=dict)
    has_val: bool = False
    has_test: bool = False
    optimizer: str = ""  # the body of build_optimizer
    optimizers: int = 1
    scheduler: str = ""  # the body of build_scheduler
    functions: list[str] = field(default_factory=list)  # of train.py
    loop: Loop = field(default_factory=Loop)
    evaluation: Evaluation = field(default_factory=Evaluation)
    test: Evaluation | None = None
    evaluate_every: int = 1
    ends: bool = False  # whether the function after_training is called at the end
    leftover: list[str] = field(default_factory=list)  # lines for the end of main
    start: list[str] = field(default_factory=list)  # lines for its beginning
    todos: list[Todo] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.edits = Edits(self.script.text)
        for node in self.script.source.all(ast.Name):
            if isinstance(node, ast.Name) and node.id == "__file__":
                self.note(f"{self.script.place(node)}: __file__ is now the file of the project")
        if "config" in self.script.definitions or any("config" in i.bound for i in self.items):
            self._rename_config()
        for name, statement in RESERVED.items():
            bound = self.script.imports.get(name, statement) != statement
            if bound or name in self.script.definitions:
                self._rename(name, f"script_{name}")

    def _rename_config(self) -> None:
        """The script's own `config` gets another name: ours has the settings of a run."""
        self.note(f"config of the script is {OTHER_CONFIG} here, beside the settings in config")
        if "config" in self.script.definitions:
            self.script.definitions[OTHER_CONFIG] = self.script.definitions["config"]
        homes = [id(self.script.source.home(item.node)) for item in self.items]
        for node in self.script.source.all(ast.Name):
            home = self.script.source.home(node)
            own = id(home) in homes or "config" in used_names(home)
            if isinstance(node, ast.Name) and node.id == "config" and own:
                self.edits.replace(node, OTHER_CONFIG)

    def _rename(self, name: str, new: str) -> None:
        """Give another name to what the script binds to a name of the written modules."""
        script, found = self.script, self.script.imports.get(name)
        if found:
            script.imports[new] = f"{found.removesuffix(f' as {name}')} as {new}"
        node = script.definitions.pop(name, None)
        if node is not None:
            script.definitions[new] = node
        if isinstance(node, DEFINITIONS):
            start = self.edits.offset(node.lineno, node.col_offset)
            place = self.edits.text.index(name, start)
            self.edits.replace((place, place + len(name)), new)
        for part in script.source.all(ast.Name):
            if isinstance(part, ast.Name) and part.id == name and script.is_global(part):
                self.edits.replace(part, new)

    def todo(self, node: ast.AST, reason: str, line: str = "") -> str:
        """A comment with the original lines, for the place where they belong."""
        text = line or dedent(" " * getattr(node, "col_offset", 0) + self.script.code(node))
        self.todos.append(Todo(self.script.place(node), text.split("\n")[0], reason))
        rows = "\n".join(f"#   {row}".rstrip() for row in text.split("\n"))
        return f"{TODO} {reason} ({self.script.place(node)})\n{rows}"

    def refuse(self, line: str, reason: str) -> None:
        """Note what can't be carried over, and has no place in the script of its own."""
        self.todos.append(Todo(self.script.path.name, line, reason))

    def note(self, text: str) -> None:
        self.notes[text] = None

    def text(self, nodes: Sequence[ast.stmt], after: int = 0) -> str:
        """Statements that follow each other, with all edits, at the left margin."""
        if not nodes:
            return ""
        return dedent(self.edits.apply(self.edits.lines(nodes, after))).rstrip("\n")

    def body(self, function: ast.FunctionDef, until: ast.stmt | None = None) -> str:
        """The statements of a function; its docstring becomes a comment."""
        nodes = list(function.body)
        head, after = "", 0
        if ast.get_docstring(function):
            head = "\n".join(f"# {row}".rstrip() for row in ast.get_docstring(function).split("\n"))  # type: ignore[union-attr]
            after, nodes = nodes[0].end_lineno or 0, nodes[1:]
        else:
            after = (nodes[0].lineno - 1) if nodes else 0
            while after > 0 and self.script.rows[after - 1].lstrip()[:1] in ("#", ""):
                after -= 1
        if until is not None:
            nodes = nodes[: nodes.index(until)]
        return "\n".join(part for part in (head, self.text(nodes, after)) if part)

    def lines(self, items: Sequence[Item]) -> str:
        """The text of statements, each with the comments above it."""
        rows = []
        for item in items:
            if item.text:
                rows.append(item.text)
                continue
            siblings = self._siblings(item.node)
            place = siblings.index(item.node)
            after = siblings[place - 1].end_lineno if place else item.node.lineno - 1
            rows.append(self.text([item.node], after or 0))
        return "\n".join(rows)

    def _siblings(self, node: ast.stmt) -> list[ast.stmt]:
        parent = self.script.source.parents[id(node)]
        for name in ("body", "orelse", "finalbody"):
            if node in getattr(parent, name, []):
                return list(getattr(parent, name))
        return [node]

    def slice(self, names: Collection[str], without: Collection[Item] = ()) -> list[Item]:
        """The statements that these names need, in order."""
        return needed(self.items, names, {*self.dropped, *without})

    def value(self, node: ast.expr | None) -> Any:
        """The value of an expression: None without one, UNKNOWN if it can't be known unrun."""
        return None if node is None else evaluate(self, node)

    def latest(self, node: ast.expr) -> ast.expr:
        """An expression, or what its name was bound to."""
        for _ in range(4):
            if not isinstance(node, ast.Name):
                break
            found = value_of(self.items, node.id) or _constant(self.script, node.id)
            if found is None:
                break
            node = found
        return node


def _constant(script: Script, name: str) -> ast.expr | None:
    node = script.definitions.get(name)
    return node.value if isinstance(node, ast.Assign) else None


def evaluate(plan: Plan, node: ast.expr | None) -> Any:
    """Literals, names of literals, settings from the command line, and simple arithmetic."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name() if (found := plan.latest(node)) is not node:
            return evaluate(plan, found)
        case ast.Attribute(attr=name) if name in plan.fields:
            return setting_default(plan.fields[name])
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            values = [evaluate(plan, part) for part in elements]
            return UNKNOWN if UNKNOWN in values else values
        case ast.Dict(keys=keys, values=rows):
            pairs = {evaluate(plan, k): evaluate(plan, v) for k, v in zip(keys, rows, strict=True)}
            return UNKNOWN if UNKNOWN in [*pairs, *pairs.values()] else pairs
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = evaluate(plan, operand)
            return -value if isinstance(value, int | float) else UNKNOWN
        case ast.BinOp(left=left, op=op, right=right):
            pair = evaluate(plan, left), evaluate(plan, right)
            if all(isinstance(value, int | float) for value in pair):
                return _arithmetic(op, *pair)
    return UNKNOWN


def _arithmetic(op: ast.operator, left: float, right: float) -> Any:
    match op:
        case ast.Mult():
            return left * right
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.FloorDiv() if right:
            return left // right
        case ast.Div() if right:
            return left / right
    return UNKNOWN


def setting_default(line: str) -> Any:
    """The default of a line of Config."""
    node = ast.parse(line).body[0]
    try:
        return ast.literal_eval(node.value)  # type: ignore[attr-defined]
    except ValueError:
        return UNKNOWN


def words(call: ast.Call, names: Sequence[str] = ()) -> dict[str, ast.expr]:
    """The arguments of a call by name; `names` are those of its first parameters."""
    found = dict(zip(names, call.args, strict=False))
    return found | {word.arg: word.value for word in call.keywords if word.arg}


def given_to(script: Script, trainer: ast.Call, names: Sequence[str]) -> dict[str, ast.expr]:
    """The arguments of a Trainer. An own class may take others before them."""
    node = script.definitions.get(script.named(trainer.func))
    for part in script.bases(node) if isinstance(node, ast.ClassDef) else ():
        if found := methods(part).get("__init__"):
            own = [argument.arg for argument in found.args.args[1:]]
            return words(trainer, [*own, *names] if found.args.vararg else own)
    return words(trainer, names)
