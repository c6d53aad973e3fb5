"""What the readers of all frameworks share: the statements before and after the training."""

import ast
from collections.abc import Mapping
from typing import ClassVar

from scaffold.eject.edits import indent
from scaffold.eject.flow import Item, root
from scaffold.eject.plan import Plan, words
from scaffold.eject.script import DEFINITIONS, IMPORTS, bound_names, used_names

BLOCKS = (ast.If, ast.For, ast.With, ast.Try, ast.While)
QUIET = ("warnings.", "logging.", "os.", "torch.set_", "torch.backends.")


class Statements:
    """A Trainer of the script, the call that trains, and what leads to it."""

    given: dict[str, ast.expr]  # what the Trainer is given; for Lightning, what fit is
    start_word = "fit"  # the method that trains
    seed_word = "seed_everything"
    no_effect: ClassVar[Mapping[str, str]] = (
        {}
    )  # calls of a Trainer after training, and what to say of them

    def __init__(self, plan: Plan, trainer: ast.Call) -> None:
        self.plan, self.script, self.trainer = plan, plan.script, trainer
        self.names = self._names_of(trainer)
        self.comments: list[str] = []  # for the top of main
        self.after: list[Item] = []
        self.result: frozenset[str] = frozenset()  # the names of what the training returns
        self.used: set[Item] = set()  # what the model or the data needs

    def _names_of(self, call: ast.Call) -> set[str]:
        node: ast.AST = call
        while not isinstance(node, ast.stmt):
            node = self.script.source.parents[id(node)]
        return bound_names(node) if isinstance(node, (ast.Assign, ast.AnnAssign)) else set()

    def find_start(self) -> ast.Call:
        """The call that trains. Raises ScaffoldError unless there is one, and only one."""
        found = [
            call
            for call in self.script.source.calls(self.start_word)
            if isinstance(call.func, ast.Attribute)
            and (root(call.func) in self.names or call.func.value is self.trainer)
        ]
        if not found:
            raise self.script.error(self.trainer, "this Trainer trains nothing here.")
        if len(found) > 1:
            raise self.script.error(found[1], "it trains a second time: one project has one loop.")
        self._cut(found[0])
        return found[0]

    def _cut(self, call: ast.Call) -> None:
        """Split the items at the call that trains: what follows it is read at the end."""
        items = self.plan.items
        at = next(
            (n for n, item in enumerate(items) if any(p is call for p in ast.walk(item.node))), None
        )
        if at is None:
            raise self.script.error(
                call,
                f"the Trainer is made in another function, at "
                f"{self.script.place(self.trainer)}: call {self.start_word} there.",
            )
        if isinstance(items[at].node, BLOCKS):
            raise self.script.error(
                call,
                f"{self.start_word} is called in a block (if, for, with, try): "
                "whether and how often it runs is not known.",
            )
        self.result, self.after = items[at].bound, items[at + 1 :]
        del items[at:]

    def of_trainer(self, item: Item) -> bool:
        return bool((item.bound | item.used) & self.names)

    def needs(self, *nodes: ast.AST, without: frozenset[str] = frozenset()) -> list[Item]:
        """The items that expressions need, without those that bind or change some names."""
        held = {item for item in self.plan.items if item.bound & without or self.of_trainer(item)}
        wanted = set().union(*map(used_names, nodes)) - without
        found = self.plan.slice(wanted, held)
        self.used |= set(found)
        return found

    def text(self, node: ast.AST) -> str:
        """An expression with all edits."""
        return self.plan.edits.apply(self.plan.edits.span(node))

    def body(self, items: list[Item], *rows: str) -> str:
        """The lines of a function: statements of the script, and ours."""
        return "\n".join(part for part in (self.plan.lines(items), *rows) if part)

    def refuse_argument(self, name: str, node: ast.AST, reason: str) -> None:
        """Put a TODO for an argument at the top of main."""
        line = f"{name}={self.script.code(node)}"
        self.comments.append(self.plan.todo(node, reason, line))

    def finish(self) -> None:
        before = self.plan.loop.before
        self.plan.loop.before = "\n".join(part for part in (*self.comments, before) if part)


class Reader(Statements):
    """Also the statements that neither the model nor the data needs."""

    def read_rest(self, model: str) -> None:
        """Statements that neither the model nor the data needs, and those after the training.

        `model` is the name of the model in the script.
        """
        for item in self.plan.dropped:
            self.used.add(item)
        for item in self.plan.items:
            if item in self.used or item in self.plan.dropped or self.of_trainer(item):
                continue
            if not self._is_seed(item.node) and not isinstance(item.node, DEFINITIONS):
                self._keep(item)
        self._read_after(model)

    def _read_after(self, model: str) -> None:
        """What follows the training becomes a function, as far as it needs no Trainer."""
        kept: list[Item] = []
        unknown = {*self.names, *self.result}
        for item in self.after:
            if not isinstance(item.node, DEFINITIONS) and (item.used | item.changed) & unknown:
                unknown |= item.bound
                self._refuse_after(item)
                continue
            if isinstance(item.node, ast.Pass):
                continue
            kept.append(item)
        if not any(not isinstance(item.node, (*DEFINITIONS, *IMPORTS)) for item in kept):
            return
        items = self.plan.items
        own = set().union(*(item.bound for item in kept))
        wanted = set().union(*(item.used for item in kept)) - {model}
        held = {item for item in items if model in item.bound or self.of_trainer(item)}
        before = self.plan.slice(wanted - (own - set().union(*(i.bound for i in items))), held)
        rows = "\n".join(part for part in (self.plan.lines(before), self.plan.lines(kept)) if part)
        name = model if model.isidentifier() else "model"
        doc = '    """What the script did after training."""'
        self.plan.functions.append(f"def after_training({name}):\n{doc}\n{indent(rows, 4)}")
        self.plan.ends = True

    def _refuse_after(self, item: Item) -> None:
        call = getattr(item.node, "value", None)
        func = call.func if isinstance(call, ast.Call) else None
        if isinstance(func, ast.Attribute) and root(func) in self.names:
            if reason := self.no_effect.get(func.attr):
                self.plan.note(f"trainer.{func.attr}: {reason}")
            if func.attr in self.no_effect:
                return
        value = getattr(item.node, "value", None)
        if isinstance(value, ast.Attribute) and value.attr == "metrics":  # of the training
            self.plan.note(f"{ast.unparse(item.node)}: metrics go to metrics.jsonl")
            return
        text = self.plan.lines([item])
        self.plan.leftover.append(self.plan.todo(item.node, "this came after training", text))

    def _keep(self, item: Item) -> None:
        call = getattr(item.node, "value", None)
        name = self.script.named(call.func) if isinstance(call, ast.Call) else ""
        if isinstance(item.node, ast.Pass):
            return
        if isinstance(item.node, ast.Expr) and not isinstance(item.node.value, ast.Call):
            self.plan.note("expressions that only show a value are left out")
        elif name.endswith(("cli_lightning_logo", "notebook_login", "login")):
            self.plan.note(f"{name.rpartition('.')[2]}(): left out")
        elif item.bound and not item.changed and not isinstance(item.node, BLOCKS):
            if any(isinstance(part, ast.Call) for part in ast.walk(item.node)):
                self.plan.note(
                    f"{self.script.place(item.node)}: `{ast.unparse(item.node)[:60]}` is not needed"
                )
        elif name.startswith(QUIET) or item.used <= {"print", *self.script.imports}:
            self.plan.start.append(self.plan.lines([item]))
        else:
            text = self.plan.lines([item])
            self.plan.leftover.append(
                self.plan.todo(item.node, "nothing in the project needs this", text)
            )

    def _is_seed(self, node: ast.stmt) -> bool:
        call = getattr(node, "value", None)
        if not (
            isinstance(call, ast.Call) and self.script.named(call.func).endswith(self.seed_word)
        ):
            return False
        seed = self.plan.value(words(call, ("seed",)).get("seed"))
        if isinstance(seed, int) and not isinstance(seed, bool):
            self.plan.answers["training.seed"] = seed
        return True
