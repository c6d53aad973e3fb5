"""Reads a script that trains with Lightning."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from scaffold.eject.arguments import take
from scaffold.eject.classes import (
    HOOKLESS,
    change_bases,
    change_module,
    keep_hyperparameters,
    settle,
    settle_literal,
)
from scaffold.eject.edits import dedent
from scaffold.eject.flow import Item, item_of, items_before, needed, root, value_of
from scaffold.eject.lightning_arguments import take_callbacks, take_hardware, take_logger
from scaffold.eject.plan import UNKNOWN, Evaluation, Plan, words
from scaffold.eject.reader import Reader
from scaffold.eject.script import Script, methods, used_names
from scaffold.eject.settings import take_settings
from scaffold.eject.steps import Module, inlines, owner, parameters, returns
from scaffold.errors import ScaffoldError

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
OTHER = (  # hooks with no place in the loop
    "on_train_batch_start on_train_batch_end on_validation_batch_start on_validation_batch_end "
    "on_before_backward on_after_backward on_before_optimizer_step on_before_zero_grad "
    "configure_gradient_clipping optimizer_step optimizer_zero_grad lr_scheduler_step backward "
    "transfer_batch_to_device on_before_batch_transfer on_after_batch_transfer configure_model "
    "configure_sharded_model configure_callbacks on_save_checkpoint on_load_checkpoint "
    "training_epoch_end validation_epoch_end test_epoch_end training_step_end "
    "on_test_batch_start on_test_batch_end"
).split()
LOADERS = ("train_dataloader", "val_dataloader", "test_dataloader")
TRAINER_CALLS = {  # of a Trainer after fit
    "test": "",
    "validate": "",
    "save_checkpoint": "a run saves model.safetensors and checkpoints by itself",
    "print": "",
}


def find_trainer(script: Script) -> ast.Call | None:
    """The call that makes a Trainer, or a LightningCLI."""
    calls = [node for node in script.source.all(ast.Call) if isinstance(node, ast.Call)]
    found = [
        call
        for call in calls
        if LIGHTNING.match(script.named(call.func))
        and script.named(call.func).endswith((".Trainer", ".LightningCLI"))
    ]
    clis = {
        part.name for part in script.classes() if script.extends(part, ".LightningCLI")
    }
    found += [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in clis]
    return found[0] if found else None


def read_lightning(script: Script, trainer: ast.Call) -> Plan:
    """Raises ScaffoldError for what can't be read."""
    plan = Plan(script, "lightning", items_before(script, trainer))
    take_settings(plan)
    run = Run(plan, trainer)
    run.read()
    return plan


class Run(Reader):
    """One call of `fit`, and what leads to it."""

    no_effect = TRAINER_CALLS

    def __init__(self, plan: Plan, trainer: ast.Call) -> None:
        super().__init__(plan, trainer)
        self.added: list[str] = []  # arguments of the model's call
        self.is_cli = not self.script.named(trainer.func).endswith(".Trainer")

    def read(self) -> None:
        plan = self.plan
        self._find_fit()
        self.module = self._find_module()
        self._take_arguments()
        module = self.module
        if self._manual():
            raise ScaffoldError(
                f"{self.script.place(module.node)}: manual optimisation is not carried over."
            )
        if "training_step" not in module.methods:
            raise ScaffoldError(f"{self.script.place(module.node)}: it has no training_step.")
        steps = [name for name in (*STEPS, *HOOKS, *EVALUATION) if name in module.methods]
        module.plan_forward([name for name in STEPS if name in module.methods])
        self._read_optimizer()
        self._read_data()
        self._move_steps(steps)
        self._change_module()
        self._build_model()
        model = self.given.get("model")
        self.read_rest(model.id if isinstance(model, ast.Name) else "")
        self.finish()

    # what is fitted

 
    def _find_fit(self) -> None:
        """The call of fit, and what is given to it."""
        self.given: dict[str, ast.expr] = {}
        fits = self.script.source.calls("fit")
        if self.is_cli and not any(root(call.func) in self.names for call in fits):
            self.fit = self.trainer
            return
        self.fit = self.find_start()
        self.given = words(self.fit, ("model", "train_dataloaders", "val_dataloaders", "datamodule"))
        if self.plan.value(self.given.get("ckpt_path")) not in (None, UNKNOWN):
            self.comments.append(self.plan.todo(self.fit, "a checkpoint of Lightning can't be resumed"))

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
                raise ScaffoldError(f"{self.script.place(self.fit)}: fit has no model.")
            self.model_text = self.script.code(model)
            value = self.plan.latest(model)
            if isinstance(value, ast.Call):
                function = value.func
                if isinstance(function, ast.Attribute):  # Model.load_from_checkpoint(...)
                    raise ScaffoldError(
                        f"{self.script.place(value)}: the model comes from {ast.unparse(function)}: "
                        "write the call of its class."
                    )
                name = function.id if isinstance(function, ast.Name) else ""
        node_ = self.script.definitions.get(name)
        if not isinstance(node_, ast.ClassDef):
            raise ScaffoldError(
                f"{self.script.place(self.fit)}: the LightningModule {name or self.model_text} is not in this "
                "folder, so its steps can't be read."
            )
        return Module(self.plan, node_)

    def _manual(self) -> bool:
        for function in self.module.methods.values():
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and "automatic_optimization" in ast.unparse(
                    node.targets[0]
                ):
                    return self.plan.value(node.value) is not True
        return False

    # what the Trainer was told

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
                self.comments.append(self.plan.todo(word.value, "these arguments are not known here"))

    def _cli_arguments(self) -> dict[str, ast.expr]:
        given = words(self.trainer, ("model_class", "datamodule_class"))
        plan = self.plan
        seed = plan.value(given.get("seed_everything_default"))
        if isinstance(seed, int) and not isinstance(seed, bool):
            plan.answers["training.seed"] = seed
        plan.note("LightningCLI: its command line is gone; train.py has flags for the settings in config")
        for part in self.script.classes():
            if part.name == getattr(self.trainer.func, "id", ""):
                for method in methods(part).values():
                    self.comments.append(plan.todo(method, "an own command line is not carried over"))
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
                    plan.todo(given[name], f"{name} is not known here", f"{name}={plan.script.code(given[name])}")
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
            same = value in (None, 1.0) and type(value) is not int or value == plan.limit
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
            self.comments.append(plan.todo(given["gradient_clip_val"], "gradient_clip_val is not known here"))
        elif limit:
            kind = plan.value(given.get("gradient_clip_algorithm"))
            kind = kind if kind in ("norm", "value") else "norm"
            plan.answers["features.clipping.kind"] = kind
            plan.answers[f"features.clipping.max_{kind}"] = float(limit)

    # optimizer and schedule

    def _read_optimizer(self) -> None:
        function = self.module.methods.get("configure_optimizers")
        if function is None:
            raise ScaffoldError(f"{self.script.place(self.module.node)}: it has no configure_optimizers.")
        found = returns(function)
        if len(found) != 1 or found[0] is not function.body[-1] or found[0].value is None:
            raise ScaffoldError(
                f"{self.script.place(function)}: configure_optimizers returns in several places: which optimizer is meant "
                "is not known."
            )
        self.items = [item_of(node) for node in function.body[:-1]]
        optimizers, schedulers = self._parts_of(found[0].value)
        if len(optimizers) != 1:
            raise ScaffoldError(
                f"{self.script.place(found[0])}: {len(optimizers)} optimizers need manual optimisation, which is not "
                "carried over."
            )
        if len(schedulers) > 1:
            raise ScaffoldError(f"{self.script.place(found[0])}: several schedules of one optimizer.")
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
        return [node if isinstance(node, ast.Call) else node], []

    def _resolve(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name):
            value = value_of(self.items, node.id)
            if value is not None:
                return value
        return node

    monitor: Any = None

    def _settle_optimizer(self, call: ast.expr) -> None:
        """Let learning rate and weight decay come from Config, where that can be seen."""
        if not isinstance(call, ast.Call):
            return
        given = words(call, ("params", "lr"))
        for word, key in (("lr", "training.learning_rate"), ("weight_decay", "training.weight_decay")):
            self._settle(given.get(word), key, self.module.node, self._model_call())

    def _settle(
        self, node: ast.expr | None, key: str, owner: ast.ClassDef | None, call: ast.Call | None
    ) -> str:
        """Let a value come from Config: a number, or self.NAME that the class's call gives."""
        if node is None or settle_literal(self.plan, node, key):
            return ""
        own = isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "self.hparams")
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

    data_call: ast.Call | None = None

    def _rewrite_self(self, function: ast.FunctionDef) -> None:
        """In build_optimizer and build_scheduler, self is the model."""
        own, edits, parents = owner(function), self.plan.edits, self.script.source.parents
        for node in ast.walk(function):
            if not (isinstance(node, ast.Name) and node.id == own):
                continue
            parent = parents[id(node)]
            above = parents.get(id(parent))
            if isinstance(parent, ast.Attribute) and parent.attr == "trainer":
                known = {"estimated_stepping_batches": "total_steps", "max_steps": "total_steps", "max_epochs": "config.epochs"}
                if isinstance(above, ast.Attribute) and above.attr in known:
                    edits.replace(above, known[above.attr])
                else:
                    self.module.refuse(node, "here is no trainer")
            else:
                edits.replace(node, "model")

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
            settings = {getattr(k, "value", None): v for k, v in zip(node.keys, node.values, strict=True)}
            node = settings["scheduler"]
        unit = plan.value(settings.get("interval")) if "interval" in settings else "epoch"
        every = plan.value(settings.get("frequency")) if "frequency" in settings else 1
        monitor = plan.value(settings["monitor"]) if "monitor" in settings else self.monitor
        value = self._resolve(node)
        name = self.script.named(value.func) if isinstance(value, ast.Call) else ""
        self._name_optimizer(optimizer, value)
        if unit not in ("epoch", "step") or not isinstance(every, int):
            raise ScaffoldError(f"{self.script.place(node)}: when this schedule steps is not known.")
        plan.scheduler = self._builder_of_schedule(function, optimizer, node)
        if name.endswith("ReduceLROnPlateau"):
            line = f'scheduler.step(metrics["{monitor}"])'
            if unit == "step":
                raise ScaffoldError(f"{self.script.place(node)}: a plateau schedule that steps with each update.")
        else:
            line = "scheduler.step()"
        if unit == "step" and every > 1:
            raise ScaffoldError(f"{self.script.place(node)}: a schedule with frequency={every} steps.")
        if unit == "step":
            plan.loop.after_update = line
        elif every > 1:
            plan.loop.epoch_end = f"if (epoch + 1) % {every} == 0:\n    {line}"
        else:
            plan.loop.epoch_end = line

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
            made = [item for item in kept if item.bound & names]
            above = needed(kept, {name for item in made for name in item.used}, ())
            wanted = used_names(value) - names
            again = needed(kept, wanted, made)
            del above
            self.items = [item for item in kept if item in again or _binds(item, value)]
        text = self._builder(function, value)
        self.items = kept
        return text

    # data

    def _read_data(self) -> None:
        plan = self.plan
        data = self._datamodule()
        if data is not None:
            self._loaders_of(data)
        elif "train_dataloaders" in self.given:
            self._loaders_given()
        elif "train_dataloader" in self.module.methods:
            self._loaders_of_model()
        else:
            raise ScaffoldError(f"{self.script.place(self.fit)}: fit has no training data.")
        plan.answers.setdefault("training.batch_size", 32)

    def _datamodule(self) -> tuple[str, ast.ClassDef | None, ast.expr | None] | None:
        """The text that makes the data module, its class, and its expression."""
        if self.is_cli:
            given = words(self.trainer, ("model_class", "datamodule_class"))
            node = given.get("datamodule_class")
            if node is None:
                return None
            found = self.script.definitions.get(getattr(node, "id", ""))
            return f"{self.script.code(node)}()", found if isinstance(found, ast.ClassDef) else None, None
        for name in ("datamodule", "train_dataloaders"):
            node = self.given.get(name)
            value = self.plan.latest(node) if node is not None else None
            called = getattr(value, "func", None)
            found = self.script.definitions.get(called.id) if isinstance(called, ast.Name) else None
            if isinstance(found, ast.ClassDef) and self.script.extends(found, "LightningDataModule"):
                return self.script.code(node), found, node
            if name == "datamodule" and node is not None:
                return self.script.code(node), None, node
            if called is not None and self.script.named(called).endswith("DataModule"):
                return self.script.code(node), None, node
        return None

    def _loaders_of(self, data: tuple[str, ast.ClassDef | None, ast.expr | None]) -> None:
        plan, (text, node, value) = self.plan, data
        own: dict[str, ast.FunctionDef] = {}
        for part in reversed(self.script.bases(node)) if node else ():
            own |= methods(part)
            change_bases(plan, part, "LightningDataModule", "")
            keep_hyperparameters(plan, part)
        everything = ("prepare_data", "setup", *LOADERS)
        has = {name: name in own or node is None for name in everything}
        if node is None:
            plan.note(f"{text}: its class comes from a package, which the project still needs")
        rows = []
        made = plan.latest(value) if value is not None else None
        self.data_call = made if isinstance(made, ast.Call) else None
        self.added, kept = [], self.added
        if "train_dataloader" in own:
            for call in ast.walk(own["train_dataloader"]):
                if isinstance(call, ast.expr):
                    self._settle_loader(call, node)
        if value is None and self.added:
            text = f"{text.removesuffix('()')}({', '.join(self.added)})"
        self.added = kept
        if value is not None:
            rows = [plan.lines(self.needs(value))]
            text = plan.edits.apply(plan.edits.span(value))
        if not text.isidentifier():
            rows.append(f"data_module = {text}")
            text = "data_module"
        if has["prepare_data"]:
            rows += ["with PartialState().local_main_process_first():", f"    {text}.prepare_data()"]
        if has["setup"]:
            rows.append(f'{text}.setup("fit")')
        plan.has_val = has["val_dataloader"] and "validation_step" in self.module.methods
        plan.has_test = has["test_dataloader"] and "test_step" in self.module.methods and self._tests()
        if plan.has_test and has["setup"]:
            rows.append(f'{text}.setup("test")')
        loaders = [f"{text}.{name}()" for name, on in zip(LOADERS, (True, plan.has_val, plan.has_test), strict=True) if on]
        plan.loaders = "\n".join([*rows, f"return {', '.join(loaders)}" + ("," if len(loaders) == 1 else "")])

    def _tests(self) -> bool:
        """Whether the script tests after training."""
        calls = self.script.source.calls("test")
        return any(root(call.func) in self.names for call in calls)

    def _loaders_given(self) -> None:
        plan = self.plan
        train, val = self.given["train_dataloaders"], self.given.get("val_dataloaders")
        loaders = [train]
        plan.has_val = val is not None and "validation_step" in self.module.methods
        if plan.has_val and val is not None:
            loaders.append(val)
        for call in self.script.source.calls("test"):
            if root(call.func) in self.names and "test_step" in self.module.methods:
                node = words(call, ("model", "dataloaders")).get("dataloaders")
                if node is not None:
                    plan.has_test = True
                    loaders.append(node)
        for node in loaders:
            if isinstance(self.plan.latest(node), (ast.List, ast.Tuple, ast.Dict)):
                raise ScaffoldError(f"{self.script.place(node)}: several loaders at once.")
        self._settle_loader(plan.latest(train))
        found = self.needs(*loaders)
        texts = [plan.edits.apply(plan.edits.span(node)) for node in loaders]
        end = "," if len(texts) == 1 else ""
        plan.loaders = "\n".join(
            part for part in (plan.lines(found), f"return {', '.join(texts)}{end}") if part
        )

    def _loaders_of_model(self) -> None:
        plan, own = self.plan, self.module.methods
        plan.loaders_take_model = True
        rows = []
        if "prepare_data" in own:
            rows += ["with PartialState().local_main_process_first():", "    model.prepare_data()"]
        if "setup" in own:
            rows.append('model.setup("fit")')
        plan.has_val = "val_dataloader" in own and "validation_step" in own
        plan.has_test = "test_dataloader" in own and "test_step" in own and self._tests()
        if plan.has_test and "setup" in own:
            rows.append('model.setup("test")')
        loaders = [f"model.{name}()" for name, on in zip(LOADERS, (True, plan.has_val, plan.has_test), strict=True) if on]
        plan.loaders = "\n".join([*rows, f"return {', '.join(loaders)}" + ("," if len(loaders) == 1 else "")])

    # steps

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
                f"{plan.loop.alone}: on several processes gradients would not be averaged, so train.py runs on one; "
                "let forward compute the loss to run on more"
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
                    self.module.move(hook, dict.fromkeys(("epoch", "progress.step", "total_steps"), ""))
                    self.module.finish_logs()
                setattr(found, place, "\n".join(p for p in (getattr(found, place), self._hook(hook)) if p))
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
            raise ScaffoldError(f"{self.script.place(function)}: a step for several loaders.")
        places = dict(zip([part.arg for part in given], ("batch", "batch_idx"), strict=False))
        found = returns(function)
        last = found[-1] if found else None
        if not inlines(function, frozenset({"metrics", "samples"} & {"samples"})):
            self.module.functions.setdefault(name, None)
            call = f"{name}({', '.join([*sorted(self.module.needs[name]), *places.values()])})"
            text = f"{result} = {call}" if result else call
            return "\n".join([text, *self._loss_of(found, result, "loss")])
        rows = [f"{own} = {ours}" for own, ours in places.items() if own != ours and self._uses(function, own)]
        body = plan.body(function, last)
        if body:
            rows.append(body)
        if result and last is None:
            raise ScaffoldError(f"{self.script.place(function)}: training_step returns nothing.")
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
            rows = {getattr(k, "value", None): v for k, v in zip(value.keys, value.values, strict=True)}
            value = rows.get("loss")
            node = ast.copy_location(ast.Return(value), node)
        if value is None:
            raise ScaffoldError(f"{self.script.place(node)}: training_step returns no loss.")
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
        if True in kinds or any(node.value is None or ast.unparse(node.value) == "None" for node in found):
            raise ScaffoldError(
                f"{self.script.place(found[0])}: training_step returns no loss, or no tensor, in some cases."
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

    # the model without Lightning

    def _change_module(self) -> None:
        own = self.module.methods
        moved = {name for name in (*STEPS, "configure_optimizers", *self.module.needs) if name in own}
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

def _binds(item: Item, value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in item.bound


def _number(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) else 0
