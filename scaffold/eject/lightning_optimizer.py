"""Optimizer and schedule of a LightningModule."""

import ast
from dataclasses import replace
from typing import Any

from scaffold.eject.classes import settle, settle_literal
from scaffold.eject.edits import dedent
from scaffold.eject.flow import Item, item_of, needed, value_of
from scaffold.eject.lightning_trainer import Arguments
from scaffold.eject.plan import words
from scaffold.eject.script import used_names
from scaffold.eject.steps import owner, returns


class Settles(Arguments):
    """Numbers of the script that become settings."""

    data_call: ast.Call | None = None

    def _settle_optimizer(self, call: ast.expr) -> None:
        """Let learning rate and weight decay come from Config, where that can be seen."""
        if not isinstance(call, ast.Call):
            return
        given = words(call, ("params", "lr"))
        for word, key in (
            ("lr", "training.learning_rate"),
            ("weight_decay", "training.weight_decay"),
        ):
            self._settle(given.get(word), key, self.module.node, self._model_call())

    def _settle(
        self, node: ast.expr | None, key: str, owner: ast.ClassDef | None, call: ast.Call | None
    ) -> str:
        """Let a value come from Config: a number, or self.NAME that the class's call gives."""
        if node is None or settle_literal(self.plan, node, key):
            return ""
        own = isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
            "self",
            "self.hparams",
        )
        if isinstance(node, ast.Attribute) and own and (call is not None or self.is_cli):
            added = settle(self.plan, call, owner, node.attr, key)
            if call is None and added != "none":
                self.added.append(added)
            return added if added != "none" else ""
        return ""

    def _model_call(self) -> ast.Call | None:
        model = self.given.get("model")
        value = self.plan.latest(model) if model is not None else None
        return value if isinstance(value, ast.Call) else None

    def _settle_loader(self, call: ast.expr, owner: ast.ClassDef | None = None) -> str:
        """Let the batch size come from Config, where that can be seen."""
        if not (isinstance(call, ast.Call) and self.script.named(call.func).endswith("DataLoader")):
            return ""
        given, added = words(call, ("dataset", "batch_size")), ""
        made = self.data_call if owner is not None else None
        for word in ("batch_size", "num_workers"):
            if owner is None:
                settle_literal(self.plan, given.get(word), f"training.{word}")
            else:
                node = given.get(word)
                if isinstance(node, ast.Attribute):
                    added = self._settle(node, f"training.{word}", owner, made) or added
        return added

    def _rewrite_self(self, function: ast.FunctionDef) -> None:
        """In build_optimizer and build_scheduler, self is the model."""
        own, edits, parents = owner(function), self.plan.edits, self.script.source.parents
        for node in ast.walk(function):
            if not (isinstance(node, ast.Name) and node.id == own):
                continue
            parent = parents[id(node)]
            above = parents.get(id(parent))
            if isinstance(parent, ast.Attribute) and parent.attr == "trainer":
                known = {
                    "estimated_stepping_batches": "total_steps",
                    "max_steps": "total_steps",
                    "max_epochs": "config.epochs",
                }
                if isinstance(above, ast.Attribute) and above.attr in known:
                    edits.replace(above, known[above.attr])
                else:
                    self.module.refuse(node, "here is no trainer")
            else:
                edits.replace(node, "model")


class Optimizers(Settles):
    """What configure_optimizers returns."""

    monitor: Any = None

    def _read_optimizer(self) -> None:
        function = self.module.methods.get("configure_optimizers")
        if function is None:
            raise self.script.error(self.module.node, "it has no configure_optimizers.")
        found = returns(function)
        if len(found) != 1 or found[0] is not function.body[-1] or found[0].value is None:
            raise self.script.error(
                function,
                "configure_optimizers returns in several places: which optimizer is meant "
                "is not known.",
            )
        self.items = [item_of(node) for node in function.body[:-1]]
        optimizers, schedulers = self._parts_of(found[0].value)
        if len(optimizers) != 1:
            raise self.script.error(
                found[0],
                f"{len(optimizers)} optimizers need manual optimisation, which is not "
                "carried over.",
            )
        if len(schedulers) > 1:
            raise self.script.error(found[0], "several schedules of one optimizer.")
        self._rewrite_self(function)
        self.plan.optimizer = self._builder(function, optimizers[0])
        if schedulers:
            self._read_scheduler(function, optimizers[0], schedulers[0])
        self._settle_optimizer(self._resolve(optimizers[0]))
        self.plan.optimizer = self._builder(function, optimizers[0])

    def _parts_of(self, node: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
        """The optimizers and the schedules in what configure_optimizers returns."""
        node = self._resolve(node)
        match node:
            case ast.Tuple(elts=[ast.List(elts=one) | ast.Tuple(elts=one), other]):
                other = self._resolve(other)
                return list(one), list(getattr(other, "elts", [other]))
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                pairs = [self._parts_of(part) for part in parts]
                return [o for p in pairs for o in p[0]], [s for p in pairs for s in p[1]]
            case ast.Dict(keys=keys, values=values):
                rows = {getattr(k, "value", None): v for k, v in zip(keys, values, strict=True)}
                if "optimizer" in rows:
                    schedule = [rows["lr_scheduler"]] if "lr_scheduler" in rows else []
                    self.monitor = self.plan.value(rows.get("monitor"))
                    return [rows["optimizer"]], schedule
        return [node], []

    def _resolve(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name):
            value = value_of(self.items, node.id)
            if value is not None:
                return value
        return node

    def _builder(self, function: ast.FunctionDef, value: ast.expr) -> str:
        """The lines of configure_optimizers that a value needs, and its return."""
        wanted = used_names(value)
        found = needed(self.items, wanted, ())
        others = [
            item
            for item in self.items
            if not item.touched and item not in found and isinstance(item.node, ast.Expr)
        ]
        found = [item for item in self.items if item in found or item in others]
        rows = [self.plan.lines(found)] if found else []
        text = dedent(self.plan.edits.apply(self.plan.edits.span(value)))
        if ast.get_docstring(function):
            rows.insert(0, f'"""{ast.get_docstring(function)}"""')
        return "\n".join([*rows, f"return {text}"])

    def _read_scheduler(
        self, function: ast.FunctionDef, optimizer: ast.expr, node: ast.expr
    ) -> None:
        plan, node = self.plan, self._resolve(node)
        settings: dict[Any, ast.expr] = {}
        if isinstance(node, ast.Dict):
            settings = {
                getattr(k, "value", None): v for k, v in zip(node.keys, node.values, strict=True)
            }
            node = settings["scheduler"]
        unit = plan.value(settings.get("interval")) if "interval" in settings else "epoch"
        every = plan.value(settings.get("frequency")) if "frequency" in settings else 1
        monitor = plan.value(settings["monitor"]) if "monitor" in settings else self.monitor
        value = self._resolve(node)
        name = self.script.named(value.func) if isinstance(value, ast.Call) else ""
        self._name_optimizer(optimizer, value)
        if unit not in ("epoch", "step") or not isinstance(every, int):
            raise self.script.error(node, "when this schedule steps is not known.")
        plan.scheduler = self._builder_of_schedule(function, optimizer, node)
        if name.endswith("ReduceLROnPlateau"):
            line = f'scheduler.step(metrics["{monitor}"])'
            if unit == "step":
                raise self.script.error(node, "a plateau schedule that steps with each update.")
        else:
            line = "scheduler.step()"
        if unit == "step" and every > 1:
            raise self.script.error(node, f"a schedule with frequency={every} steps.")
        if unit == "step":
            plan.loop.after_update = line
        elif every > 1:
            plan.loop.schedule = f"if (epoch + 1) % {every} == 0:\n    {line}"
        else:
            plan.loop.schedule = line

    def _name_optimizer(self, optimizer: ast.expr, schedule: ast.expr) -> None:
        """In build_scheduler, the optimizer is a parameter."""
        if isinstance(optimizer, ast.Name) and optimizer.id != "optimizer":
            for node in ast.walk(schedule):
                if isinstance(node, ast.Name) and node.id == optimizer.id:
                    self.plan.edits.replace(node, "optimizer")

    def _builder_of_schedule(
        self, function: ast.FunctionDef, optimizer: ast.expr, value: ast.expr
    ) -> str:
        """The same without the lines that make the optimizer, which is a parameter."""
        kept = self.items
        if isinstance(optimizer, ast.Name):
            names = {optimizer.id, "optimizer"}
            # what changes the model has been done in build_optimizer
            own = {owner(function)}
            items = {replace(item, changed=item.changed - own): item for item in kept}
            made = [item for item in items if item.bound & names]
            again = {items[item] for item in needed([*items], used_names(value) - names, made)}
            self.items = [item for item in kept if item in again or _binds(item, value)]
        text = self._builder(function, value)
        self.items = kept
        return text


def _binds(item: Item, value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in item.bound
