"""Reads a script that trains with Lightning."""

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from scaffold.check.source import is_constant, last
from scaffold.eject.arguments import take
from scaffold.eject.flow import Item, defaults_of, item_of, needed, words
from scaffold.eject.plan import ORDERS, UNKNOWN, Evaluation, Plan, table
from scaffold.eject.reader import OPTIMIZER, SAVED, Reader
from scaffold.eject.script import IMPORTS, used_names
from scaffold.eject.steps import EVALUATING, MAIN, Module, owner, parameters

FRAMEWORK = "lightning"
TRAINER = r"(pytorch_lightning|lightning)\b.*\.(Trainer|LightningCLI)"
HOOKS = re.compile(table("code")["hooks"])  # other methods that Lightning calls
PLAIN = ("object", "torch.nn.Module", "abc.ABC")
INSIDE = {"trainer", "logger", "log", "log_dict", "current_epoch", "global_step"}
MODES = r"\.eval\(\)|\.train\(False\)|from_pretrained"  # Lightning leaves what is not training
LOADERS = ("train_dataloader", "val_dataloader", "test_dataloader")
LOADER = {"batch_size": "batch_size", "num_workers": "num_workers"}
OPTIMIZING = ("config", "total_steps")  # what build_optimizer and build_scheduler know of main


class Parts(Reader):
    """Where the data comes from, and what configure_optimizers returns."""

    module: Module

    def read_optimizer(self) -> None:
        plan, function = self.plan, self.module.methods["configure_optimizers"]
        returns = [n for n in self.script.source.within(function) if isinstance(n, ast.Return)]
        if returns != [function.body[-1]]:
            raise self.script.error(function, "it returns in several places: write one return.")
        self.items = [item_of(node) for node in function.body[:-1]]
        optimizer, schedule = self._optimizer_and_schedule(returns[0])
        self.settle(plan.latest(optimizer, self.items), OPTIMIZER)
        self.module.move("configure_optimizers", OPTIMIZING, subject="model")
        own = needed(self.items, used_names(optimizer))
        later = self._read_schedule(schedule, getattr(optimizer, "id", "")) if schedule else []
        others = [item for item in self.items if item not in own and item not in later]
        # dictionaries and lists of what is returned are not needed
        gone = [i for i in others if isinstance(getattr(i.node, "value", 0), (ast.Dict, ast.List))]
        rows = [item for item in self.items if item in own or item not in (*later, *gone)]
        result = f"return {plan.text(optimizer)}"
        plan.optimizer = self.function(plan.lines(rows), result)

    def _optimizer_and_schedule(self, node: ast.Return) -> tuple[ast.expr, ast.expr | None]:
        """The parts of what configure_optimizers returns."""
        found = self.plan.latest(node.value, self.items) if node.value else None
        match found:
            case ast.List(elts=[one]) | ast.Tuple(elts=[ast.List(elts=[one]), ast.List(elts=[])]):
                return one, None
            case ast.Tuple(elts=[ast.List(elts=[one]), ast.List(elts=[schedule])]):
                return one, schedule
            case ast.Dict(keys=keys, values=values):
                rows = {getattr(k, "value", None): v for k, v in zip(keys, values, strict=True)}
                if "optimizer" in rows:
                    return rows["optimizer"], rows.get("lr_scheduler")
            case ast.Call() | ast.Name():
                return node.value, None  # type: ignore[return-value]
        text = "this is not one optimizer, alone or with one schedule: that is not carried over."
        raise self.script.error(node, text)

    def _read_schedule(self, node: ast.expr, optimizer: str) -> list[Item]:
        """The statements that only the schedule needs."""
        plan, found = self.plan, self.plan.latest(node, self.items)
        rows: dict[Any, ast.expr] = {"scheduler": node, "frequency": ast.Constant(1)}
        rows["interval"] = ast.Constant("epoch")
        if isinstance(found, ast.Dict):
            rows |= {plan.value(k): v for k, v in zip(found.keys, found.values, strict=True)}
        node, interval = rows["scheduler"], plan.value(rows["interval"])
        made = plan.latest(node, self.items)
        if interval not in ("epoch", "step") or plan.value(rows["frequency"]) != 1:
            raise self.script.error(node, "when this schedule steps is not known.")
        if last(made).endswith("ReduceLROnPlateau"):
            raise self.script.error(made, "a schedule by a metric is not carried over.")
        # what changes the model, or the optimizer, has been done in build_optimizer
        items = [item for item in self.items if optimizer not in item.touched]
        own = owner(self.module.methods["configure_optimizers"])
        changes = {replace(item, changed=item.changed - {own}): item for item in items}
        later = [changes[item] for item in needed([*changes], used_names(node) - {optimizer})]
        first = f"{optimizer} = optimizer" if optimizer not in ("", "optimizer") else ""
        plan.scheduler = self.function(first, plan.lines(later), f"return {plan.text(node)}")
        plan.schedule = interval
        return later

    def read_data(self) -> None:
        plan = self.plan
        plan.answers.setdefault("training.batch_size", 32)
        if any("generator" not in words(c) for c in self.script.source.calls("DataLoader")):
            plan.note("a resumed run is exact if each DataLoader has generator=torch.Generator()")
        node = self.given.get("datamodule", self.given.get("train_dataloaders"))
        made = getattr(plan.latest(node) if node is not None else None, "func", None)
        is_module = "datamodule" in self.given or self.script.is_a(made, r".*DataModule")
        if node is not None and is_module:
            self._loaders_of(node, self.script.own_class(made))
        elif node is not None:
            self._loaders_given(node)
        elif "train_dataloader" in self.module.methods:
            plan.loaders_take_model = True
            plan.loaders = self._calls_of("model", set(self.module.methods))
        else:
            raise self.script.error(self.start, "fit has no training data.")

    def _loaders_of(self, node: ast.expr, own: ast.ClassDef | None) -> None:
        plan = self.plan
        names = set(self.script.methods(own)) if own else {"prepare_data", "setup", *LOADERS}
        if own is None:
            plan.note(f"{self.script.code(node)}: its package is still needed for the data")
        for part in self.script.bases(own):
            strip(plan, part, "LightningDataModule", "", set(), {"prepare_data", "setup"})
        for call in ast.walk(self.script.methods(own).get("train_dataloader", ast.Pass())):
            if last(call) == "DataLoader":
                self.answer(call, LOADER)
        rows, text = self.needs(node), plan.text(node)
        if isinstance(node, ast.Name):
            self.result |= {node.id}  # only this one is set up, not that of what follows
        else:
            rows, text = f"{rows}\ndata_module = {text}".strip(), "data_module"
        plan.loaders = self.function(rows, self._calls_of(text, names))

    def _calls_of(self, text: str, names: set[str]) -> str:
        """The calls of a module of data."""
        plan, steps, rows = self.plan, self.module.methods, []
        if "val_dataloader" in names and "validation_step" in steps:
            plan.sets["val"] = Evaluation()
        if "test_dataloader" in names and self._tests():
            plan.sets["test"] = Evaluation()
        if "prepare_data" in names:
            rows.append("with PartialState().local_main_process_first():")
            rows.append(f"    {text}.prepare_data()")
        if "setup" in names:
            stages = ("fit", "test") if "test" in plan.sets else ("fit",)
            rows += [f'{text}.setup("{stage}")' for stage in stages]
        loaders = [f"{text}.{name}_dataloader()" for name in ("train", *plan.sets)]
        return self.function(*rows, self.returned(loaders))

    def _tests(self) -> list[ast.Call]:
        """The call that tests after training, if the module can."""
        calls = [c for c in self.script.source.calls("test") if self.is_trainer(c.func)]
        return calls[:1] if "test_step" in self.module.methods else []

    def _loaders_given(self, train: ast.expr) -> None:
        plan, loaders = self.plan, [train]
        val = self.given.get("val_dataloaders")
        if val is not None and "validation_step" in self.module.methods:
            plan.sets["val"] = Evaluation()
            loaders.append(val)
        for call in self._tests():
            if node := words(call, ("model", "dataloaders")).get("dataloaders"):
                plan.sets["test"] = Evaluation()
                loaders.append(node)
        for node in loaders:
            if isinstance(plan.latest(node), (ast.List, ast.Tuple, ast.Dict)):
                raise self.script.error(node, "several loaders at once.")
        self.settle(plan.latest(train), LOADER)
        result = self.returned([plan.text(node) for node in loaders])
        plan.loaders = self.function(self.needs(*loaders), result)


class Steps(Parts):
    """What the Trainer was told, and the steps and hooks of a LightningModule."""

    def _take_arguments(self) -> None:
        plan, given = self.plan, words(self.trainer)
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
            best = "; the best weights are those saved and tested" if monitor else ""
            self.plan.note(f"ModelCheckpoint: a checkpoint is saved after each epoch{best}")
            return not monitor or self.watch("best_model", monitor, mode)
        known = {"monitor", "mode", "patience", "min_delta", "verbose", "strict"}
        if name == "EarlyStopping" and monitor and values.keys() <= known:
            least, patience = abs(float(values.get("min_delta", 0.0))), values.get("patience", 3)
            return self.watch("early_stopping", monitor, mode, min_delta=least, patience=patience)
        return False

    def _move_steps(self) -> None:
        plan, module = self.plan, self.module
        plan.step = self._step("training_step", MAIN)
        plan.epoch_end = self._step("on_train_epoch_end", MAIN)
        plan.logs = any("meters" in needs for needs in module.needs.values())
        if module.parts:
            names = ", ".join(f"self.{name}" for name in sorted(module.parts))
            plan.alone = f"training_step calls {names}, not self(...)"
            plan.note(f"one process only: {plan.alone}; let forward compute the loss for more")
        for name, found in plan.sets.items():
            stage = name.replace("val", "validation")
            found.step = self._step(f"{stage}_step", EVALUATING)
            found.end = self._step(f"on_{stage}_epoch_end", EVALUATING)
            if found.end:
                text = f"each computes on_{stage}_epoch_end of its part of the data"
                plan.note(f"several processes: {text}, and the mean of that is logged")
            if self.script.calls_of(r"torchmetrics\..*"):
                text = "torchmetrics may count samples of the last batches of an evaluation twice"
                plan.note(f"several processes: {text}; logged numbers count each once")
        plan.functions += map(module.function, module.functions)

    def _step(self, name: str, known: Collection[str]) -> str:
        """The lines of a method. Those of training_step bind `loss` to what it returns."""
        module, plan = self.module, self.plan
        if name not in module.methods:
            return ""
        module.move(name, known)
        function = module.methods[name]
        nodes, last = self.script.source.within(function), function.body[-1]
        inner = [n for n in nodes if isinstance(n, (ast.Return, *IMPORTS)) and n is not last]
        if inner:
            text = f"{name} returns in several places, or imports: write one return, at its end."
            raise self.script.error(inner[0], text)
        given = ("batch", "batch_idx") if name.endswith("_step") else ("None",)
        values = {word: ast.unparse(node) for word, node in defaults_of(function).items()}
        values |= zip(parameters(function), given, strict=False)
        if len(values) < len(parameters(function)):
            raise self.script.error(function, "what its parameters are is not known here.")
        used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        hidden = module.hidden(name)
        pairs = [(w, v) for w, v in values.items() if w in used and w != v]
        rows = [f"{w}_ = {v}" if w in hidden else f"{w} = {v}" for w, v in pairs]
        end = last if isinstance(last, ast.Return) else None
        value = end.value if end else None
        rows.append(plan.body(function, end))
        if name == "training_step":
            rows.append(self._loss(value, function))
        elif isinstance(value, ast.Call):
            rows.append(plan.text(value))
        return self.function(*rows)

    def _loss(self, value: ast.expr | None, function: ast.FunctionDef) -> str:
        """Binds `loss` to what training_step returns: a tensor, or a dictionary with it."""
        made = self.script.source.latest(value)[-1] if value is not None else None
        if value is None or is_constant(made, None):
            raise self.script.error(function, "training_step returns no loss.")
        text = self.plan.text(value) + ('["loss"]' if isinstance(made, ast.Dict) else "")
        if isinstance(value, ast.Dict):
            keys = [self.plan.value(key) for key in value.keys]
            text = self.plan.text(value.values[keys.index("loss")]) if "loss" in keys else text
        return "" if text == "loss" else f"loss = {text}"


class Run(Steps):
    """One call of `fit`, and what leads to it."""

    no_effect: ClassVar = {"test": "", "validate": "", "save_checkpoint": SAVED, "print": ""}

    def read(self) -> None:
        self.given = words(self.start, ORDERS["fit"].split())
        model = self.given.get("model", self.start)
        self.model_name = getattr(model, "id", "")
        if self.given.get("ckpt_path") is not None:
            self.refuse(self.start, "a checkpoint of Lightning can't be resumed")
        made = getattr(self.plan.latest(model), "func", model)
        own = self.script.own_class(made)
        if own is None:
            raise self.script.error(self.start, f"{ast.unparse(made)} is no class of this folder.")
        self.module = Module(self.plan, own)
        for node in self.script.source.all(ast.Assign):
            if re.search(r"\.automatic_optimization = (?!True$)", ast.unparse(node)):
                raise self.script.error(node, "manual optimisation is not carried over.")
        for name in ("training_step", "configure_optimizers"):
            if name not in self.module.methods:
                raise self.script.error(own, f"it has no {name}.")
        self._take_arguments()
        self.plan.keeps_modes = bool(re.search(MODES, self.script.text))
        self.read_optimizer()
        self.read_data()
        self._move_steps()
        self._change_module()
        self.finish()

    def _change_module(self) -> None:
        """A LightningModule becomes an nn.Module: what the loop does is gone from it."""
        plan, module, names = self.plan, self.module, set(self.module.methods)
        moved = {"training_step", "validation_step", "test_step", *module.needs}
        used = {node.attr for name in names for node in module.attributes(module.methods[name])}
        used |= set(re.findall(r"\bmodel\.(\w+)\(", plan.loaders))
        for node in self.script.bases(module.node):
            strip(plan, node, "LightningModule", "nn.Module", moved, used)
        for name in {n for n in names - moved if n in used or not HOOKS.fullmatch(n)}:
            for attribute in module.attributes(module.methods[name]):
                if attribute.attr == "device":
                    new = f"next({ast.unparse(attribute.value)}.parameters()).device"
                    plan.edits.replace(attribute, new)
                elif attribute.attr in INSIDE:
                    module.refuse(attribute, "this is not known in the model")


def strip(
    plan: Plan, node: ast.ClassDef, base: str, new: str, moved: set[str], called: set[str]
) -> None:
    """A class without its framework. The methods that moved go; a TODO says which nothing calls."""
    edits = plan.edits
    own = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    for parent in node.bases:
        if plan.script.named(parent).endswith(base):
            start, end = edits.span(parent)
            if not new and len(node.bases) == 1:
                text = plan.script.text
                start, end = text.rindex("(", 0, start), text.index(")", end) + 1
            edits.replace((start, end), new or ("object" if len(node.bases) > 1 else ""))
        elif plan.script.own_class(parent) is None and plan.script.named(parent) not in PLAIN:
            plan.comments.append(plan.todo(parent, "what this class does in training is not known"))
    is_empty = all(getattr(part, "name", "") in moved for part in node.body)
    for name, part in own.items():
        start, end = edits.lines([part], above=False)
        gap = " " * part.col_offset
        if name in moved:
            edits.replace((start, end), f"{gap}pass\n" if is_empty else "")
        elif HOOKS.fullmatch(name) and name not in called:
            line = plan.script.rows[part.lineno - 1].strip()
            todo = plan.todo(part, "nothing calls this here", line).split("\n")[0]
            edits.insert(start, f"{gap}{todo}\n")
    if init := own.get("__init__"):
        _keep_hyperparameters(plan, node, init)


def _keep_hyperparameters(plan: Plan, node: ast.ClassDef, init: ast.FunctionDef) -> None:
    """self.save_hyperparameters() becomes a namespace of the arguments, or goes if none is read."""
    used = any("hparams" in ast.unparse(other) for other in plan.script.bases(node))
    for call in plan.script.source.within(init):
        if last(call) == "save_hyperparameters" and isinstance(call, ast.Call):
            names = [part.arg for part in (*init.args.args[1:], *init.args.kwonlyargs)]
            parts = [f"{name}={name}" for name in names]
            parts += [f"**{init.args.kwarg.arg}"] if init.args.kwarg else []
            made = f"SimpleNamespace({', '.join(parts)})"
            if call.args and plan.value(call.args[0]) is UNKNOWN:  # one argument has them
                made = plan.script.code(call.args[0])
            start, end = plan.edits.span(plan.script.statement(call))
            if used:
                plan.edits.replace((start, end), f"{owner(init)}.hparams = {made}")
            else:
                plan.edits.replace((start - call.col_offset, end + 1), "")
