"""Reads a script that trains with Lightning."""

import ast
import re
from collections.abc import Sequence

from scaffold.eject.classes import (
    HOOKLESS,
    change_module,
)
from scaffold.eject.edits import dedent
from scaffold.eject.flow import items_before, root
from scaffold.eject.lightning_data import LOADERS, Loaders
from scaffold.eject.plan import Evaluation, Plan
from scaffold.eject.script import Script
from scaffold.eject.settings import take_settings
from scaffold.eject.steps import inlines, parameters, returns

LIGHTNING = re.compile(r"(pytorch_lightning|lightning)\b")
HOOKS = {  # methods that Lightning calls at moments of the loop, and where they go
    "on_fit_start": "before",
    "on_train_start": "before",
    "on_train_epoch_start": "epoch_start",
    "on_train_epoch_end": "epoch_end",
    "on_train_end": "after",
    "on_fit_end": "after",
}
EVALUATION = {
    "on_validation_start": "start",
    "on_validation_epoch_start": "start",
    "on_validation_epoch_end": "end",
    "on_validation_end": "end",
}
STEPS = ("training_step", "validation_step", "test_step")
OTHER = [
    "on_train_batch_start",
    "on_train_batch_end",
    "on_validation_batch_start",
    "on_validation_batch_end",
    "on_before_backward",
    "on_after_backward",
    "on_before_optimizer_step",
    "on_before_zero_grad",
    "configure_gradient_clipping",
    "optimizer_step",
    "optimizer_zero_grad",
    "lr_scheduler_step",
    "backward",
    "transfer_batch_to_device",
    "on_before_batch_transfer",
    "on_after_batch_transfer",
    "configure_model",
    "configure_sharded_model",
    "configure_callbacks",
    "on_save_checkpoint",
    "on_load_checkpoint",
    "training_epoch_end",
    "validation_epoch_end",
    "test_epoch_end",
    "training_step_end",
    "on_test_batch_start",
    "on_test_batch_end",
]


def find_trainer(script: Script) -> ast.Call | None:
    """The call that makes a Trainer, or a LightningCLI."""
    calls = [node for node in script.source.all(ast.Call) if isinstance(node, ast.Call)]
    found = [
        call
        for call in calls
        if LIGHTNING.match(script.named(call.func))
        and script.named(call.func).endswith((".Trainer", ".LightningCLI"))
    ]
    clis = {part.name for part in script.classes() if script.extends(part, ".LightningCLI")}
    found += [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in clis]
    return found[0] if found else None


def read_lightning(script: Script, trainer: ast.Call) -> Plan:
    """Raises ScaffoldError for what can't be read."""
    plan = Plan(script, "lightning", items_before(script, trainer))
    take_settings(plan)
    run = Run(plan, trainer)
    run.read()
    return plan


class Steps(Loaders):
    """The steps and hooks of a LightningModule."""

    def _move_steps(self, steps: Sequence[str]) -> None:
        plan, module = self.plan, self.module
        loop = {"total_steps": "total_steps"}
        outside = dict.fromkeys(("epoch", "progress.step", "total_steps", "batches_per_epoch"), "")
        for name in steps:
            in_loop = name == "training_step" or name in HOOKS
            if name in STEPS or name in HOOKS or plan.has_val:
                module.move(name, loop if in_loop else outside)
        module.finish_logs()
        plan.loop.logs = "meters" in module.needs["training_step"] or any(
            "meters" in module.needs.get(hook, ()) for hook in HOOKS
        )
        plan.loop.step = self._step("training_step", "loss")
        for hook, place in HOOKS.items():
            if hook in module.methods:
                text = getattr(plan.loop, place)
                setattr(plan.loop, place, "\n".join(p for p in (text, self._hook(hook)) if p))
        if plan.has_val:
            plan.evaluation = self._evaluation("validation")
        if plan.has_test:
            plan.test = self._evaluation("test")
        if module.parts:
            names = ", ".join(f"self.{name}" for name in sorted(module.parts))
            plan.loop.alone = f"training_step calls {names}, not self(...)"
            plan.note(
                f"{plan.loop.alone}: on several processes gradients would not be averaged, so "
                "train.py runs on one; let forward compute the loss to run on more"
            )
        for name in module.functions:
            plan.functions.append(module.function(name))

    def _evaluation(self, stage: str) -> Evaluation:
        found, own = Evaluation(), self.module.methods
        found.step = self._step(f"{stage}_step", "")
        for hook, place in EVALUATION.items():
            hook = hook.replace("validation", stage)
            if hook in own:
                if stage == "test":
                    self.module.move(
                        hook, dict.fromkeys(("epoch", "progress.step", "total_steps"), "")
                    )
                    self.module.finish_logs()
                setattr(
                    found,
                    place,
                    "\n".join(p for p in (getattr(found, place), self._hook(hook)) if p),
                )
        return found

    def _hook(self, name: str) -> str:
        function = self.module.methods[name]
        if inlines(function) and not returns(function) and not parameters(function):
            return self.plan.body(function)
        self.module.functions.setdefault(name, None)
        given = sorted(self.module.needs[name])
        given += ["None"] * (len(parameters(function)) - len(function.args.defaults))
        return f"{name}({', '.join(given)})"

    def _step(self, name: str, result: str) -> str:
        """The lines of a step. With a result, they bind it to what the step returns."""
        function, plan = self.module.methods[name], self.plan
        given = parameters(function)
        if len(given) > 2 and len(given) - len(function.args.defaults) > 2:
            raise self.script.error(function, "a step for several loaders.")
        places = dict(zip([part.arg for part in given], ("batch", "batch_idx"), strict=False))
        found = returns(function)
        last = found[-1] if found else None
        if not inlines(function, frozenset({"samples"})):
            self.module.functions.setdefault(name, None)
            call = f"{name}({', '.join([*sorted(self.module.needs[name]), *places.values()])})"
            text = f"{result} = {call}" if result else call
            return "\n".join([text, *self._loss_of(found, result, "loss")])
        rows = [
            f"{own} = {ours}"
            for own, ours in places.items()
            if own != ours and self._uses(function, own)
        ]
        body = plan.body(function, last)
        if body:
            rows.append(body)
        if result and last is None:
            raise self.script.error(function, "training_step returns nothing.")
        if result and last is not None:
            rows += self._result(last)
        elif last is not None and isinstance(last.value, ast.Call):
            rows.append(dedent(plan.edits.apply(plan.edits.span(last.value))))
        return "\n".join(rows)

    def _uses(self, function: ast.FunctionDef, name: str) -> bool:
        return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(function))

    def _result(self, node: ast.Return) -> list[str]:
        """Lines that bind `loss` to what is returned: a tensor, or a dictionary with it."""
        value = node.value
        if isinstance(value, ast.Dict):
            pairs = zip(value.keys, value.values, strict=True)
            value = next((v for k, v in pairs if getattr(k, "value", None) == "loss"), None)
            node = ast.copy_location(ast.Return(value), node)
        if value is None:
            raise self.script.error(node, "training_step returns no loss.")
        text = self.plan.edits.apply(self.plan.edits.span(value))
        rows = [] if text == "loss" else [f"loss = {text}"]
        return [*rows, *(self._loss_of([node], "loss", text) if value is node.value else [])]

    def _loss_of(self, found: Sequence[ast.Return], result: str, text: str) -> list[str]:
        """A line that takes the loss out of a returned dictionary."""
        if not result:
            return []
        kinds = {self._is_dictionary(node.value) for node in found}
        if kinds == {True}:
            return ['loss = loss["loss"]']
        if True in kinds or any(
            node.value is None or ast.unparse(node.value) == "None" for node in found
        ):
            raise self.script.error(
                found[0], "training_step returns no loss, or no tensor, in some cases."
            )
        return []

    def _is_dictionary(self, node: ast.expr | None, depth: int = 0) -> bool:
        """Whether a value is a dictionary with the loss, also of an own method that is called."""
        if isinstance(node, ast.Dict):
            return depth > 0 or True
        if isinstance(node, ast.Name):
            home = self.script.source.home(node)
            values = [
                part.value
                for part in ast.walk(home)
                if isinstance(part, ast.Assign)
                and any(isinstance(t, ast.Name) and t.id == node.id for t in part.targets)
            ]
            return any(self._is_dictionary(value, depth + 1) for value in values)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and depth < 4:
            called = self.module.methods.get(node.func.attr)
            if called is not None and root(node.func) == "self":
                return any(self._is_dictionary(part.value, depth + 1) for part in returns(called))
        return False


class Run(Steps):
    """One call of `fit`, and what leads to it."""

    def read(self) -> None:
        self._find_fit()
        self.module = self._find_module()
        self._take_arguments()
        module = self.module
        if self._manual():
            raise self.script.error(module.node, "manual optimisation is not carried over.")
        if "training_step" not in module.methods:
            raise self.script.error(module.node, "it has no training_step.")
        steps = [name for name in (*STEPS, *HOOKS, *EVALUATION) if name in module.methods]
        module.plan_forward([name for name in STEPS if name in module.methods])
        self._look_for_evaluation_mode()
        self._read_optimizer()
        self._read_data()
        self._move_steps(steps)
        self._change_module()
        self._build_model()
        model = self.given.get("model")
        self.read_rest(model.id if isinstance(model, ast.Name) else "")
        self.finish()

    def _manual(self) -> bool:
        for function in self.module.methods.values():
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and "automatic_optimization" in ast.unparse(
                    node.targets[0]
                ):
                    return self.plan.value(node.value) is not True
        return False

    def _look_for_evaluation_mode(self) -> None:
        """Parts in evaluation mode: Lightning leaves them in it, and our loop does not."""
        nodes = [self.module.methods.get("__init__"), *(item.node for item in self.plan.items)]
        nodes += [part for part in self.module.methods.values() if part.name == "configure_model"]
        for part in nodes:
            for node in ast.walk(part) if part is not None else ():
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    makes = node.func.attr == "from_pretrained" and "Token" not in ast.unparse(node)
                    if makes or (node.func.attr == "eval" and not node.args):
                        reason = (
                            "Lightning trains a part in evaluation mode (no dropout) if it is in "
                        )
                        reason += "it; model.train() in main changes that"
                        self.comments.append(self.plan.todo(node, reason))

    def _change_module(self) -> None:
        own = self.module.methods
        moved = {
            name for name in (*STEPS, "configure_optimizers", *self.module.needs) if name in own
        }
        moved |= {"configure_optimizers"}
        moved -= {name for name in LOADERS if self.plan.loaders_take_model}
        reasons = {name: HOOKLESS for name in (*OTHER, *HOOKS, *EVALUATION) if name not in moved}
        change_module(self.module, moved, reasons)

    def _build_model(self) -> None:
        plan = self.plan
        if self.is_cli:
            plan.model = f"return {self.model_text.removesuffix('()')}({', '.join(self.added)})"
            return
        node = self.given["model"]
        found = self.needs(node)
        text = plan.edits.apply(plan.edits.span(node))
        plan.model = "\n".join(part for part in (plan.lines(found), f"return {text}") if part)
