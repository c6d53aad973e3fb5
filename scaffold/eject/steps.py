"""Methods of a LightningModule as code of the loop: what `self` stands for there."""

import ast
import copy
import re
from collections.abc import Collection, Iterator

from scaffold.eject.edits import margin
from scaffold.eject.plan import RESERVED, Plan, table

LOGS = ("log", "log_dict")
LOOP = table("code")["loop"]  # attributes of self, and of self.trainer
REFUSED = frozenset(table("code")["refused"].split())  # what else self has from Lightning
MAIN = frozenset(table("code")["main"].split())
TAKEN = {name: f"script_{name}" for name in RESERVED}  # by functions of the project
STEP = re.compile(r"\w+_step|on_\w+")  # methods whose lines stand in the loop
EVALUATING = MAIN - {"epoch", "progress", "total_steps", "batches_per_epoch"}  # what evaluate knows
WEIGHTLESS = r".*Loss|torchmetrics\..*|torch\.nn\.functional.*|.*(clone|Collection|Accuracy|Metric)"


class Module:
    """A LightningModule of the script, whose steps move to the loop."""

    def __init__(self, plan: Plan, node: ast.ClassDef) -> None:
        self.plan, self.node, self.source = plan, node, plan.script.source
        self.methods = plan.script.methods(node)
        self.needs: dict[str, set[str]] = {}  # the names of main that each moved method needs
        self.parts: set[str] = set()  # submodules that moved code calls itself
        self.functions: dict[str, None] = {}  # moved methods that are functions of train.py
        self.refused: set[int] = set()

    def attributes(self, function: ast.FunctionDef) -> Iterator[ast.Attribute]:
        """Where a method uses an attribute of self."""
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == owner(function):
                yield node

    def touches(self, name: str) -> bool:
        """Whether a method uses the loop, such as self.log, also through others that it calls."""
        names, used = [name], set[str]()
        for one in names:
            used |= {node.attr for node in self.attributes(self.methods[one])}
            names += [other for other in sorted(used & self.methods.keys()) if other not in names]
        return bool(used & ({*LOGS, *LOOP, *REFUSED} - {"device"}))

    def has_weights(self, name: str) -> bool:
        """Whether self.NAME may be a submodule with weights, or a method that calls one."""
        nodes = [node for function in self.methods.values() for node in ast.walk(function)]
        rows = [node for node in nodes if isinstance(node, ast.Assign)]
        rows = [r for r in rows if name in [getattr(part, "attr", "") for part in r.targets]]
        named = [self.plan.script.named(row.value) for row in rows]
        return name in self.methods or not all(re.fullmatch(WEIGHTLESS, text) for text in named)

    def refuse(self, node: ast.AST, reason: str) -> None:
        """Put a TODO in place of the statement of a node."""
        node = self.plan.script.statement(node)
        if id(node) not in self.refused:
            self.refused.add(id(node))
            rows = self.plan.todo(node, reason).split("\n")
            parent = self.source.parents[id(node)]
            is_alone = [node] in (getattr(parent, "body", []), getattr(parent, "orelse", []))
            rows += ["pass"] if is_alone else []
            between = "\n" + " " * node.col_offset
            self.plan.edits.replace(node, between.join(rows))

    def move(self, name: str, known: Collection[str], subject: str = "module") -> set[str]:
        """Rewrite a method for a place that knows some names of main; returns those it needs."""
        function = self.methods[name]
        if name not in self.needs:
            needs = self.needs[name] = set[str]()
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and node.id == owner(function):
                    needs |= self._rewrite(node, known, subject)
            hidden = self.hidden(name)
            for node in ast.walk(function):
                word = getattr(node, "id", getattr(node, "arg", ""))
                if word in hidden and isinstance(node, (ast.Name, ast.arg)):
                    start, _ = self.plan.edits.span(node)
                    self.plan.edits.replace((start, start + len(word)), f"{word}_")
        return self.needs[name]

    def hidden(self, name: str) -> set[str]:
        """The local names of a method that would hide one of the loop: they get an underscore."""
        names = MAIN | RESERVED.keys() if STEP.fullmatch(name) else self.needs[name]
        return local_names(self.methods[name]) & names

    def _rewrite(self, own: ast.Name, known: Collection[str], subject: str) -> set[str]:
        """Rewrite one use of self; returns the names of main that it needs."""
        edits, parent = self.plan.edits, self.source.parents[id(own)]
        above = self.source.parents[id(parent)]
        attr = parent.attr if isinstance(parent, ast.Attribute) else ""
        call = above if isinstance(above, ast.Call) and above.func is parent else None
        if getattr(parent, "func", None) is own or (attr == "forward" and call):
            edits.replace(parent if attr else own, "model")
            return {"model"}
        if attr in LOGS and call:
            return self._log(call, attr)
        where: ast.AST = parent
        if attr == "trainer" and isinstance(above, ast.Attribute):
            attr, where = f"trainer.{above.attr}", above
        if attr in LOOP and attr not in self.methods:
            name = LOOP[attr].partition(".")[0]
            if name in known:
                edits.replace(where, LOOP[attr])
                return {name}
            self.refuse(where, f"self.{attr} is not known here")
        elif attr.partition(".")[0] in REFUSED - self.methods.keys():
            self.refuse(where, f"there is no self.{attr} here")
        elif attr in self.methods and call and self.touches(attr):
            return self._call(call, attr, known)
        else:
            if call and self.has_weights(attr):
                self.parts.add(attr)
            edits.replace(own, subject)
            return {subject}
        return set()

    def _log(self, call: ast.Call, attr: str) -> set[str]:
        """self.log(name, value, ...) becomes meters.log(name, value, samples)."""
        edits, count = self.plan.edits, 2 if attr == "log" else 1
        size = [w.value for w in call.keywords if w.arg == "batch_size"]
        if len(call.args) < count:
            self.refuse(call, "write the name and the value first, without their keywords")
            return set()
        edits.replace(call.func, f"meters.{attr}")
        last, end = edits.span(call.args[count - 1])[1], edits.span(call)[1]
        if size:
            first, after = edits.span(size[0])
            edits.replace((last, first), ", ")
            edits.replace((after, end), ")")
        else:
            edits.replace((last, end), ", samples)")
        if len(call.args) + len(call.keywords) > count + len(size):
            self.plan.note(
                "self.log: each value is logged as the mean over its samples, in training at each "
                "log line and epoch, in evaluation once; its other arguments have no effect"
            )
        return {"meters"} if size else {"meters", "samples"}

    def _call(self, call: ast.Call, name: str, known: Collection[str]) -> set[str]:
        """A call of a method that moves, too: it becomes a function."""
        needs = self.move(name, known)
        if needs - set(known) or any(word.arg in self.hidden(name) for word in call.keywords):
            self.refuse(call, f"self.{name} can't be called here as it is")
            return set()
        start, end = self.plan.edits.span(call.func)
        opening = self.plan.script.text.index("(", end)
        comma = ", " if needs and (call.args or call.keywords) else ""
        new = f"{TAKEN.get(name, name)}({', '.join(sorted(needs))}{comma}"
        self.plan.edits.replace((start, opening + 1), new)
        self.functions[name] = None
        return set(needs)

    def function(self, name: str) -> str:
        """A moved method as a function of train.py: what it needs are its first parameters."""
        node, needs = self.methods[name], sorted(self.needs[name])
        given = copy.deepcopy(node.args)
        for part in ast.walk(given):
            if isinstance(part, ast.arg) and part.arg in self.hidden(name):
                part.arg += "_"
        given.args = [*map(ast.arg, needs), *given.args[bool(owner(node)) :]]
        body = margin(self.plan.body(node), 4)
        return f"def {TAKEN.get(name, name)}({ast.unparse(given)}):\n{body}"


def owner(function: ast.FunctionDef) -> str:
    """The name of self in a method; empty in a static one."""
    if any(getattr(node, "id", "") == "staticmethod" for node in function.decorator_list):
        return ""
    return function.args.args[0].arg if function.args.args else ""


def parameters(function: ast.FunctionDef) -> list[str]:
    """The parameters of a method but self."""
    return [part.arg for part in function.args.args if part.arg != owner(function)]


def local_names(function: ast.FunctionDef) -> set[str]:
    """The parameters of a method, and what it binds but imports."""
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    return {*parameters(function), *(n.id for n in nodes if not isinstance(n.ctx, ast.Load))}
