"""Reads a script that trains with Lightning."""

import ast
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from scaffold.check.source import is_constant
from scaffold.eject.arguments import take
from scaffold.eject.flow import words
from scaffold.eject.lightning_data import Loaders, strip
from scaffold.eject.plan import Evaluation
from scaffold.eject.reader import SAVED
from scaffold.eject.steps import EVALUATING, MAIN, Module, inlines, parameters

FRAMEWORK = "lightning"
TRAINER = r"(pytorch_lightning|lightning)\b.*\.(Trainer|LightningCLI)"
EVALUATION = {"{}_step": "step", "on_{}_epoch_end": "end"}
CALLED = re.compile(  # other methods that Lightning calls
    r"on_\w+|configure_\w+|optimizer_\w+|lr_scheduler_step|backward|\w+_epoch_end|\w+_step_end"
    r"|transfer_batch_to_device"
)
INSIDE = {"trainer", "logger", "log", "log_dict", "current_epoch", "global_step"}
EVAL_MODE = "Lightning leaves a part in evaluation mode (no dropout); model.train() does not"
FIT = ("model", "train_dataloaders", "val_dataloaders", "datamodule")


class Steps(Loaders):
    """What the Trainer was told, and the steps and hooks of a LightningModule."""

    orders: ClassVar = {"EarlyStopping": ("monitor", "min_delta", "patience", "verbose", "mode")}

    def _take_arguments(self) -> None:
        plan, given = self.plan, words(self.trainer)
        self.refuse_stars(self.trainer, self.start)
        self.own_methods()
        plan.answers["training.seed"] = 0
        values = take(plan, "lightning", given)
        plan.note("devices: one process; set hardware.distributed_type in scaffold.toml for more")
        epochs, steps = (int(values.get(f"max_{name}") or 0) for name in ("epochs", "steps"))
        if steps > 0:
            plan.answers["training.max_steps"] = steps
        plan.answers["training.epochs"] = next((n for n in (epochs, steps) if n > 0), 1000)
        self.clip(values["gradient_clip_algorithm"], values.get("gradient_clip_val"))
        self.read_callbacks(given.get("callbacks"))
        self.read_callbacks(given.get("logger"))

    def take_callback(self, name: str, values: Mapping[str, Any]) -> bool:
        monitor, mode = values.get("monitor"), values.get("mode", "min")
        if name == "ModelCheckpoint":
            self.plan.note("ModelCheckpoint: a checkpoint is saved after each epoch")
            return not monitor or self.watch("best_model", monitor, mode)
        known = {"monitor", "mode", "patience", "min_delta", "verbose", "strict"}
        if name == "EarlyStopping" and monitor and values.keys() <= known:
            least, patience = abs(float(values.get("min_delta", 0.0))), values.get("patience", 3)
            return self.watch("early_stopping", monitor, mode, min_delta=least, patience=patience)
        return False

    def _move_steps(self) -> None:
        plan, module = self.plan, self.module
        for name in ("training_step", "on_train_epoch_end"):
            if name in module.methods:
                module.move(name, MAIN)
                plan.loop.logs |= "meters" in module.needs[name]
        plan.loop.step = self._step("training_step", ("batch", "batch_idx"), with_loss=True)
        if "on_train_epoch_end" in module.methods:
            plan.loop.epoch_end = self._step("on_train_epoch_end", ())
        if module.parts:
            names = ", ".join(f"self.{name}" for name in sorted(module.parts))
            plan.loop.alone = f"training_step calls {names}, not self(...)"
            plan.note(
                f"{plan.loop.alone}: on several processes gradients would not be averaged, so "
                "train.py runs on one; let forward compute the loss to run on more"
            )
        if plan.has_val:
            plan.evaluation = self._evaluation("validation")
        if plan.has_test:
            plan.test = self._evaluation("test")
        plan.functions += map(module.function, module.functions)

    def _evaluation(self, stage: str) -> Evaluation:
        found = Evaluation()
        for pattern, place in EVALUATION.items():
            name = pattern.format(stage)
            if name in self.module.methods:
                self.module.move(name, EVALUATING)
                given = ("batch", "batch_idx") if place == "step" else ()
                setattr(found, place, self._step(name, given))
        return found

    def _step(self, name: str, given: tuple[str, ...], *, with_loss: bool = False) -> str:
        """The lines of a method. With a loss, they bind it to what the method returns."""
        module, plan, function = self.module, self.plan, self.module.methods[name]
        own, defaults = parameters(function), len(function.args.defaults)
        if len(own) - defaults > max(len(given), 1):
            raise self.script.error(function, "what its parameters are is not known here.")
        own = own[: len(given) or len(own) - defaults]
        given = given or ("None",) * len(own)
        found = [n for n in self.script.source.within(function) if isinstance(n, ast.Return)]
        if not inlines(function, found, allowed="samples"):
            module.functions[name] = None
            call = f"{name}({', '.join([*sorted(module.needs[name]), *given[: len(own)]])})"
            return f"loss = {call}{self._key_of_loss(found)}" if with_loss else call
        used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        pairs = zip(own, given, strict=False)
        rows = [f"{one} = {ours}" for one, ours in pairs if one != ours and one in used]
        value: Any = found[0].value if found else None
        rows.append(plan.body(function, found[0] if found else None))
        if with_loss:
            key, parts = self._key_of_loss(found), dict[str, ast.expr]()
            if isinstance(value, ast.Dict):
                keys = [str(plan.value(name)) for name in value.keys]
                parts = dict(zip(keys, value.values, strict=True))
            text = plan.text(parts["loss"]) if "loss" in parts else f"{plan.text(value)}{key}"
            rows.append("" if text == "loss" else f"loss = {text}")
        elif isinstance(value, ast.Call):
            rows.append(plan.text(value))
        return self.function(*rows)

    def _key_of_loss(self, found: list[ast.Return]) -> str:
        """What takes the loss out of what is returned: a tensor, or a dictionary with it."""
        latest = self.script.source.latest
        values = [latest(node.value)[-1] if node.value else ast.Constant(None) for node in found]
        kinds = {isinstance(value, ast.Dict) for value in values}
        if len(kinds) != 1 or any(is_constant(value, None) for value in values):
            function = found[0] if found else self.module.methods["training_step"]
            text = "training_step returns no loss, or no tensor, in some cases."
            raise self.script.error(function, text)
        return '["loss"]' if kinds == {True} else ""


class Run(Steps):
    """One call of `fit`, and what leads to it."""

    no_effect: ClassVar = {"test": "", "validate": "", "save_checkpoint": SAVED, "print": ""}

    def read(self) -> None:
        self.given = words(self.start, FIT)
        model = self.given.get("model", self.start)
        self.model_name = getattr(model, "id", "")
        if self.given.get("ckpt_path") is not None:
            self.refuse(self.start, "a checkpoint of Lightning can't be resumed")
        made = getattr(self.plan.latest(model), "func", model)
        own = self.script.own_class(made)
        if own is None:
            text = f"the LightningModule {ast.unparse(made)} is not in this folder: its steps"
            raise self.script.error(self.start, f"{text} can't be read.")
        self.module = Module(self.plan, own)
        for node in self.script.source.all(ast.Assign):
            if re.search(r"\.automatic_optimization = (?!True$)", ast.unparse(node)):
                raise self.script.error(node, "manual optimisation is not carried over.")
        for name in ("training_step", "configure_optimizers"):
            if name not in self.module.methods:
                raise self.script.error(own, f"it has no {name}.")
        self._take_arguments()
        self._look_for_evaluation_mode()
        self.read_optimizer()
        self.read_data()
        self._move_steps()
        self._change_module()
        self.finish()

    def _look_for_evaluation_mode(self) -> None:
        """Parts in evaluation mode: Lightning leaves them in it, and our loop does not."""
        own = self.module.methods
        nodes = [own[name] for name in ("__init__", "configure_model") if name in own]
        for part in [*nodes, *(item.node for item in self.plan.items)]:
            for node in ast.walk(part):
                attr = getattr(getattr(node, "func", None), "attr", "")
                makes = attr == "from_pretrained" and "Token" not in ast.unparse(node)
                if makes or (attr == "eval" and not words(node)):
                    self.refuse(node, EVAL_MODE)

    def _change_module(self) -> None:
        """A LightningModule becomes an nn.Module: what the loop does is gone from it."""
        plan, module, names = self.plan, self.module, set(self.module.methods)
        moved = {"training_step", "validation_step", "test_step", *module.needs}
        used = {node.attr for name in names for node in module.attributes(module.methods[name])}
        idle = {name for name in names - moved - used if CALLED.fullmatch(name)}
        for node in self.script.bases(module.node):
            strip(plan, node, "LightningModule", "nn.Module", moved, idle)
        for name in names - moved - idle:
            for attribute in module.attributes(module.methods[name]):
                if attribute.attr == "device":
                    new = f"next({ast.unparse(attribute.value)}.parameters()).device"
                    plan.edits.replace(attribute, new)
                elif attribute.attr in INSIDE:
                    module.refuse(attribute, "this is not known in the model")
