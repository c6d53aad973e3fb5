"""What Lightning's Trainer and its fit were told."""

import ast
from collections.abc import Mapping
from typing import Any

from scaffold.eject.arguments import take
from scaffold.eject.flow import root
from scaffold.eject.lightning_arguments import take_callbacks, take_hardware, take_logger
from scaffold.eject.plan import UNKNOWN, Plan, words
from scaffold.eject.reader import Reader
from scaffold.eject.script import methods
from scaffold.eject.steps import Module

TRAINER_CALLS = {  # of a Trainer after fit
    "test": "",
    "validate": "",
    "save_checkpoint": "a run saves model.safetensors and checkpoints by itself",
    "print": "",
}


class Fit(Reader):
    """The call of fit, and the model that is fitted."""

    no_effect = TRAINER_CALLS
    module: Module

    def __init__(self, plan: Plan, trainer: ast.Call) -> None:
        super().__init__(plan, trainer)
        self.added: list[str] = []  # arguments of the model's call
        self.is_cli = not self.script.named(trainer.func).endswith(".Trainer")

    def _find_fit(self) -> None:
        """The call of fit, and what is given to it."""
        self.given = {}
        fits = self.script.source.calls("fit")
        if self.is_cli and not any(root(call.func) in self.names for call in fits):
            self.fit = self.trainer
            return
        self.fit = self.find_start()
        self.given = words(
            self.fit, ("model", "train_dataloaders", "val_dataloaders", "datamodule")
        )
        if self.plan.value(self.given.get("ckpt_path")) not in (None, UNKNOWN):
            self.comments.append(
                self.plan.todo(self.fit, "a checkpoint of Lightning can't be resumed")
            )

    def _find_module(self) -> Module:
        name = ""
        if self.is_cli:
            given = words(self.trainer, ("model_class", "datamodule_class"))
            node = given.get("model_class")
            name = node.id if isinstance(node, ast.Name) else ""
            self.model_text = f"{name}()"
        else:
            model = self.given.get("model")
            if model is None:
                raise self.script.error(self.fit, "fit has no model.")
            self.model_text = self.script.code(model)
            value = self.plan.latest(model)
            if isinstance(value, ast.Call):
                function = value.func
                if isinstance(function, ast.Attribute):  # Model.load_from_checkpoint(...)
                    raise self.script.error(
                        value,
                        f"the model comes from {ast.unparse(function)}: "
                        "write the call of its class.",
                    )
                name = function.id if isinstance(function, ast.Name) else ""
        node_ = self.script.definitions.get(name)
        if not isinstance(node_, ast.ClassDef):
            raise self.script.error(
                self.fit,
                f"the LightningModule {name or self.model_text} is not in this "
                "folder, so its steps can't be read.",
            )
        return Module(self.plan, node_)


class Arguments(Fit):
    """The arguments of the Trainer."""

    def _take_arguments(self) -> None:
        plan, answers = self.plan, self.plan.answers
        if self.is_cli:
            given = self._cli_arguments()
        else:
            given = words(self.trainer)
            self._refuse_stars()
        self.comments += take_hardware(plan, given)
        known = {"accelerator", "strategy", "devices", "precision", "logger", "callbacks"}
        known |= {"fast_dev_run", "max_epochs", "max_steps", "gradient_clip_val"}
        known |= {"gradient_clip_algorithm", "check_val_every_n_epoch"}
        known |= {f"limit_{name}_batches" for name in ("train", "val", "test")}
        self.comments += take_callbacks(plan, given.get("callbacks"))
        self.comments += take_logger(plan, given.get("logger"))
        self._take_length(given)
        self._take_clipping(given)
        every = plan.value(given.get("check_val_every_n_epoch"))
        plan.evaluate_every = every if isinstance(every, int) and every else 1
        answers.setdefault("training.log_every", 50)
        self.comments += take(plan, "lightning", given, known)
        if "deterministic" in given and plan.value(given["deterministic"]) == "warn":
            answers["features.deterministic.enabled"] = True
        answers.setdefault("training.seed", 0)

    def _refuse_stars(self) -> None:
        for word in self.trainer.keywords:
            if word.arg is None:
                self.comments.append(
                    self.plan.todo(word.value, "these arguments are not known here")
                )

    def _cli_arguments(self) -> dict[str, ast.expr]:
        given = words(self.trainer, ("model_class", "datamodule_class"))
        plan = self.plan
        seed = plan.value(given.get("seed_everything_default"))
        if isinstance(seed, int) and not isinstance(seed, bool):
            plan.answers["training.seed"] = seed
        plan.note(
            "LightningCLI: its command line is gone; train.py has flags for the settings in config"
        )
        for part in self.script.classes():
            if part.name == getattr(self.trainer.func, "id", ""):
                for method in methods(part).values():
                    self.comments.append(
                        plan.todo(method, "an own command line is not carried over")
                    )
        defaults = given.get("trainer_defaults")
        if isinstance(defaults, ast.Dict):
            return {
                str(plan.value(key)): value
                for key, value in zip(defaults.keys, defaults.values, strict=True)
            }
        if defaults is not None:
            self.comments.append(plan.todo(defaults, "these defaults are not known here"))
        return {}

    def _take_length(self, given: Mapping[str, ast.expr]) -> None:
        plan, answers = self.plan, self.plan.answers
        values = {name: plan.value(node) for name, node in given.items()}
        for name in ("max_epochs", "max_steps", "fast_dev_run"):
            if values.get(name) is UNKNOWN:
                self.comments.append(
                    plan.todo(
                        given[name],
                        f"{name} is not known here",
                        f"{name}={plan.script.code(given[name])}",
                    )
                )
        epochs, steps = (_number(values.get(name)) for name in ("max_epochs", "max_steps"))
        if steps > 0:
            answers["training.max_steps"] = steps
        answers["training.epochs"] = epochs if epochs > 0 else steps if steps > 0 else 1000
        limits = {name: values.get(f"limit_{name}_batches") for name in ("train", "val", "test")}
        if fast := _number(values.get("fast_dev_run")):
            limits = dict.fromkeys(limits, fast)
            answers["training.epochs"] = 1
            answers["training.max_steps"] = fast
        if isinstance(limits["train"], int) and limits["train"] is not True:
            plan.limit = limits["train"]
        for name, value in limits.items():
            same = (value in (None, 1.0) and type(value) is not int) or value == plan.limit
            if not same and f"limit_{name}_batches" in given:
                node = given[f"limit_{name}_batches"]
                reason = "--limit-batches is a number, and the same for all sets"
                line = f"limit_{name}_batches={plan.script.code(node)}"
                self.comments.append(plan.todo(node, reason, line))
            elif plan.limit and value is None:
                plan.note("limit_train_batches: limits the batches of an evaluation, too")

    def _take_clipping(self, given: Mapping[str, ast.expr]) -> None:
        plan = self.plan
        limit = plan.value(given.get("gradient_clip_val"))
        plan.answers["features.clipping.enabled"] = bool(limit) and limit is not UNKNOWN
        if limit is UNKNOWN and "gradient_clip_val" in given:
            self.comments.append(
                plan.todo(given["gradient_clip_val"], "gradient_clip_val is not known here")
            )
        elif limit:
            kind = plan.value(given.get("gradient_clip_algorithm"))
            kind = kind if kind in ("norm", "value") else "norm"
            plan.answers["features.clipping.kind"] = kind
            plan.answers[f"features.clipping.max_{kind}"] = float(limit)


def _number(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) else 0
