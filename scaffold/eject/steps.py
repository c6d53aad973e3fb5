"""Methods of a LightningModule as code of the loop: what `self` stands for there."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from scaffold.eject.plan import RESERVED, Plan
from scaffold.eject.script import bound_names, methods

LOGS = ("log", "log_dict")
TRAINER = {  # attributes of self.trainer
    "current_epoch": "epoch",
    "global_step": "progress.step",
    "max_epochs": "config.epochs",
    "estimated_stepping_batches": "total_steps",
    "max_steps": "total_steps",
    "accumulate_grad_batches": "config.gradient_accumulation_steps",
    "num_training_batches": "batches_per_epoch",
    "is_global_zero": "accelerator.is_main_process",
    "world_size": "accelerator.num_processes",
}
LOOP = {  # attributes of self
    "current_epoch": "epoch",
    "global_step": "progress.step",
    "device": "accelerator.device",
    "global_rank": "accelerator.process_index",
    "local_rank": "accelerator.local_process_index",
    "print": "accelerator.print",
    "manual_backward": "accelerator.backward",
}
REFUSED = {
    "trainer": "here is no trainer",
    "logger": "here is no logger: `scaffold add tracker` sends metrics to one",
    "loggers": "here is no logger: `scaffold add tracker` sends metrics to one",
    "all_gather": "use accelerator.gather, which adds no dimension",
    "clip_gradients": "use accelerator.clip_grad_norm_",
    "configure_callbacks": "callbacks are lines of the loop",
    "lr_schedulers": "step the schedulers that build_optimizer makes",
    "log_grad_norm": "the log says the gradient norm",
    "toggle_optimizer": "turn requires_grad off for the other network",
    "untoggle_optimizer": "turn requires_grad on again",
    "optimizers": "the optimizers of this method are not known",
}
# names of main that code of a module can't bind
NAMES = """
    accelerator config model module optimizer scheduler progress epoch bar batches remaining done
    meters metrics samples start start_step values checkpoints states settings save_every
    train_loader val_loader test_loader total_steps batches_per_epoch metrics_file train_loss
    grad_norm best_model early_stopping line seconds
"""
MAIN = frozenset(NAMES.split())


@dataclass
class Methods:
    """The methods of a LightningModule of the script."""

    plan: Plan
    node: ast.ClassDef
    methods: Mapping[str, ast.FunctionDef] = field(init=False)
    needs: dict[str, set[str]] = field(default_factory=dict)  # names that a moved method needs
    parts: set[str] = field(default_factory=set)  # submodules that moved code calls itself
    called: str = ""  # the only part that is called, if the class has no forward
    later: list[tuple[ast.Call, str, list[ast.expr], ast.expr | None]] = field(default_factory=list)
    functions: dict[str, None] = field(default_factory=dict)  # moved methods that others call
    refused: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        found: dict[str, ast.FunctionDef] = {}
        for part in reversed(self.plan.script.bases(self.node)):
            found |= methods(part)
        self.methods = found

    def touches(self, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a method uses the loop, such as self.log, also through others that it calls."""
        if name not in self.methods or name in seen:
            return False
        for attribute in self.attributes(self.methods[name]):
            attr = attribute.attr
            if attr in (*LOGS, *LOOP, *REFUSED) and attr != "device":
                return True
            if self.touches(attr, seen | {name}):
                return True
        return False

    def attributes(self, function: ast.FunctionDef) -> Iterator[ast.Attribute]:
        """Where a method uses an attribute of self."""
        own = owner(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == own:
                yield node

    def is_part(self, name: str) -> bool:
        """Whether self.NAME is a submodule with weights, as far as can be seen."""
        values = [
            node.value
            for function in self.methods.values()
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Attribute) and target.attr == name
        ]
        if not values:
            return False
        named = [self.plan.script.named(v.func) for v in values if isinstance(v, ast.Call)]
        return not named or not all(
            "Loss" in text
            or text.startswith(("torchmetrics", "torch.nn.functional"))
            or ".functional." in text
            or self._is_metric(text)
            for text in named
        )

    def _is_metric(self, text: str) -> bool:
        last = text.rpartition(".")[2]
        return last in ("clone", "MetricCollection") or last.endswith(("Accuracy", "Metric"))

    def plan_forward(self, names: list[str]) -> None:
        """Look whether the steps call one part only, which then is what the model's call does."""
        if "forward" in self.methods:
            return
        calls = {
            attribute.attr
            for name in names
            for attribute in self.attributes(self.methods[name])
            if self._is_called(attribute) and self.is_part(attribute.attr)
        }
        if len(calls) == 1:
            self.called = calls.pop()

    def _is_called(self, node: ast.AST) -> bool:
        parent = self.plan.script.source.parents[id(node)]
        return isinstance(parent, ast.Call) and parent.func is node

    def refuse(self, node: ast.AST, reason: str) -> None:
        """Put a TODO in place of the statement of a node."""
        source = self.plan.script.source
        while not isinstance(node, ast.stmt):
            node = source.parents[id(node)]
        if isinstance(node, (ast.If, ast.For, ast.While, ast.With)):
            node = node.body[0]
        if id(node) in self.refused:
            return
        self.refused.add(id(node))
        start, end = self.plan.edits.span(node)
        margin = " " * node.col_offset
        comment = self.plan.todo(node, reason).replace("\n", f"\n{margin}")
        siblings = [
            getattr(source.parents[id(node)], name, []) for name in ("body", "orelse", "finalbody")
        ]
        alone = [part for part in siblings if node in part and len(part) == 1]
        self.plan.edits.replace((start, end), comment + (f"\n{margin}pass" if alone else ""))

    def _look_inside(self, name: str, seen: frozenset[str]) -> None:
        """Note the parts that a method which stays in the module calls."""
        function = self.methods[name]
        own = owner(function)
        for attribute in self.attributes(function):
            if self._is_called(attribute) and self.is_part(attribute.attr):
                self.parts.add(attribute.attr)
            elif attribute.attr in self.methods and attribute.attr not in seen | {name}:
                self._look_inside(attribute.attr, seen | {name})
        if any(
            isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == own
            for n in ast.walk(function)
        ):
            self.parts.add(name)


class Module(Methods):
    """A LightningModule, whose steps move to the loop."""

    def move(
        self, name: str, names: Mapping[str, str], seen: frozenset[str] = frozenset()
    ) -> set[str]:
        """Rewrite a method for the loop; returns the names of main that it needs.

        `names` says what other attributes of self stand for there.
        """
        if name in self.needs:
            return self.needs[name]
        function, needs = self.methods[name], set[str]()
        self.needs[name] = needs
        own = owner(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id == own and isinstance(node.ctx, ast.Load):
                needs |= self._rewrite(node, names, seen | {name})
        self._rename_locals(function, needs)
        return needs

    def _rename_locals(self, function: ast.FunctionDef, needs: set[str]) -> None:
        """Give local names an underscore that would hide what the loop gives to the method."""
        own = {part.arg for part in parameters(function)}.union(*map(bound_names, function.body))
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in own & needs:
                self.plan.edits.replace(node, f"{node.id}_")
            elif isinstance(node, ast.arg) and node.arg in own & needs:
                start, _ = self.plan.edits.span(node)
                self.plan.edits.replace((start, start + len(node.arg)), f"{node.arg}_")

    def _rewrite(self, own: ast.Name, names: Mapping[str, str], seen: frozenset[str]) -> set[str]:
        """Rewrite one use of self."""
        edits, parents = self.plan.edits, self.plan.script.source.parents
        parent = parents[id(own)]
        if isinstance(parent, ast.Call) and parent.func is own:
            edits.replace(own, "model")
            return {"model"}
        if not isinstance(parent, ast.Attribute):
            edits.replace(own, "module")
            return {"module"}
        above, attr = parents[id(parent)], parent.attr
        call = above if isinstance(above, ast.Call) and above.func is parent else None
        if (attr == "forward" and call) or (attr == self.called and call):
            edits.replace(parent, "model")
            return {"model"}
        if attr in LOGS and call:
            return self._log(call, attr)
        if attr == "trainer" and isinstance(above, ast.Attribute) and above.attr in TRAINER:
            return self._name(above, TRAINER[above.attr], names)
        if attr == "optimizers" and call and "optimizers()" in names:
            edits.replace(call, names["optimizers()"])
            return {"optimizer"}
        if attr in LOOP and attr not in self.methods:
            return self._name(parent, LOOP[attr], names)
        if attr in REFUSED:
            self.refuse(parent, REFUSED[attr])
            return set()
        if attr in self.methods and call and self.touches(attr):
            return self._call(call, attr, names, seen)
        if call and self.is_part(attr):
            self.parts.add(attr)
        elif call and attr in self.methods:
            self._look_inside(attr, frozenset())
        edits.replace(own, "module")
        return {"module"}

    def _name(self, node: ast.expr, new: str, names: Mapping[str, str]) -> set[str]:
        new = names.get(new, new)
        if new == "":
            self.refuse(node, "this is not known here")
            return set()
        self.plan.edits.replace(node, new)
        return {new.split(".")[0]}

    def _log(self, call: ast.Call, attr: str) -> set[str]:
        """self.log(name, value, ...) becomes meters.log(name, value, samples)."""
        edits = self.plan.edits
        given = {word.arg: word.value for word in call.keywords}
        values = call.args[: 2 if attr == "log" else 1]
        values += [given[word] for word in ("name", "value", "dictionary") if word in given]
        size = given.get("batch_size")
        texts = [edits.apply(edits.span(value)) for value in values]
        self.later.append((call, attr, values, size))
        del texts
        others = {
            word for word in given if word not in ("name", "value", "dictionary", "batch_size")
        }
        if others:
            self.plan.note(
                "self.log: each value is logged as the mean over its samples, in training at each "
                "log line and epoch, in evaluation once; its other arguments have no effect"
            )
        return {"meters", *(() if size is not None else ("samples",))}

    def finish_logs(self) -> None:
        """Rewrite the calls of self.log, whose values were rewritten before."""
        edits = self.plan.edits
        for call, attr, values, size in self.later:
            start, end = edits.span(call.func)
            edits.replace((start, end), f"meters.{attr}")
            last = max((edits.span(value)[1] for value in values), default=end)
            tail = ", samples)"
            if size is not None:
                tail = f", {edits.apply(edits.span(size))})"
            edits.replace((last, edits.span(call)[1]), tail)
        self.later = []

    def _call(
        self, call: ast.Call, name: str, names: Mapping[str, str], seen: frozenset[str]
    ) -> set[str]:
        """A call of a method that moves, too: it becomes a function."""
        needs = self.move(name, names, seen)
        given = ", ".join(sorted(needs))
        start, end = self.plan.edits.span(call.func)
        opening = self.plan.script.text.index("(", end)
        comma = ", " if given and (call.args or call.keywords) else ""
        self.plan.edits.replace((start, opening + 1), f"{name}({given}{comma}")
        self.functions.setdefault(name, None)
        return set(needs)

    def function(self, name: str) -> str:
        """A moved method as a function of train.py."""
        node, plan = self.methods[name], self.plan
        arguments = list(parameters(node))
        texts = [plan.edits.apply(plan.edits.span(part)) for part in arguments]
        defaults = node.args.defaults
        for place, default in enumerate(reversed(defaults), start=1):
            texts[-place] += f"={plan.script.code(default)}"
        texts = [*sorted(self.needs.get(name, ())), *texts]
        if node.args.vararg:
            texts.append(f"*{node.args.vararg.arg}")
        if node.args.kwarg:
            texts.append(f"**{node.args.kwarg.arg}")
        from scaffold.eject.edits import indent

        body = plan.body(node)
        return f"def {name}({', '.join(texts)}):\n{indent(body or 'pass', 4)}"


def owner(function: ast.FunctionDef) -> str:
    """The name of self in a method; empty in a static one."""
    if any(isinstance(d, ast.Name) and d.id in ("staticmethod",) for d in function.decorator_list):
        return ""
    return function.args.args[0].arg if function.args.args else ""


def parameters(function: ast.FunctionDef) -> list[ast.arg]:
    """The parameters of a method but self."""
    return function.args.args[1:] if owner(function) else function.args.args


def returns(function: ast.FunctionDef) -> list[ast.Return]:
    """The return statements of a function itself."""
    found: list[ast.Return] = []

    def look(nodes: list[ast.stmt]) -> None:
        for node in nodes:
            if isinstance(node, ast.Return):
                found.append(node)
            elif not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                for name in ("body", "orelse", "finalbody"):
                    look(getattr(node, name, []))
                for handler in getattr(node, "handlers", []):
                    look(handler.body)

    look(function.body)
    return found


def inlines(function: ast.FunctionDef, allowed: frozenset[str] = frozenset()) -> bool:
    """Whether the body of a method can stand in the loop: one return, at its end, and own names."""
    found = returns(function)
    names = {part.arg for part in parameters(function)}.union(*map(bound_names, function.body))
    return (not found or found == [function.body[-1]]) and not names & (
        MAIN - allowed | RESERVED.keys()
    )
