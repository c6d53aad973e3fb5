"""Reads a script that trains with pytorch-accelerated."""

import ast
from typing import Any, ClassVar

from scaffold.eject.arguments import take
from scaffold.eject.classes import settle_literal
from scaffold.eject.flow import items_before, root
from scaffold.eject.plan import UNKNOWN, Evaluation, Plan, given_to, words
from scaffold.eject.reader import Reader
from scaffold.eject.script import Script, methods, used_names
from scaffold.eject.settings import take_settings

TRAINER = ("model", "loss_func", "optimizer", "callbacks", "run_history")
TRAIN = [
    "train_dataset",
    "num_epochs",
    "eval_dataset",
    "per_device_batch_size",
    "max_num_train_steps",
    "gradient_accumulation_steps",
    "gradient_clip_value",
    "create_scheduler_fn",
    "train_dataloader_kwargs",
    "eval_dataloader_kwargs",
    "reset_run_history",
    "collate_fn",
    "resume_from",
]
WITHOUT_EFFECT = {
    "PrintProgressCallback": "the log says it",
    "ProgressBarCallback": "the progress bar shows in a terminal only",
    "LogMetricsCallback": "the log says the metrics",
    "MoveModulesToDeviceCallback": "modules in the model move with it",
    "TerminateOnNaNCallback": "",
    "DEFAULT_CALLBACKS": "",
    "get_default_callbacks": "",
}
STEP = """xb, yb = batch[0], batch[1]
model_outputs = model(xb)
loss = {loss}(model_outputs, yb)"""
PLACEHOLDERS = {  # of TrainerPlaceholderValues
    "NUM_EPOCHS": "config.epochs",
    "NUM_UPDATE_STEPS_PER_EPOCH": "(total_steps // config.epochs)",
    "PER_DEVICE_BATCH_SIZE": "config.batch_size",
    "TRAIN_DATALOADER_LEN": "(total_steps // config.epochs)",
}
ACCUMULATED = {  # batches, not steps
    "TRAIN_DATALOADER_LEN": "(total_steps // config.epochs * config.gradient_accumulation_steps)",
}


def find_accelerated(script: Script) -> ast.Call | None:
    """The call that makes a Trainer, also one of an own class."""
    own = {part.name for part in script.classes() if _is_trainer(script, part)}
    for call in script.source.all(ast.Call):
        if isinstance(call, ast.Call):
            name = script.named(call.func)
            if (name.startswith("pytorch_accelerated") and name.endswith("Trainer")) or name in own:
                return call
    return None


def _is_trainer(script: Script, node: ast.ClassDef) -> bool:
    return any(
        script.named(base).startswith("pytorch_accelerated")
        and script.named(base).endswith("Trainer")
        for part in script.bases(node)
        for base in part.bases
    )


def read_accelerated(script: Script, trainer: ast.Call) -> Plan:
    """Raises ScaffoldError for what can't be read."""
    plan = Plan(script, "pytorch-accelerated", items_before(script, trainer))
    take_settings(plan)
    Run(plan, trainer).read()
    return plan


class Parts(Reader):
    """Model, data and optimizer."""

    training: dict[str, ast.expr]  # what train is given

    start_word, seed_word = "train", "set_seed"
    no_effect: ClassVar = {
        "evaluate": "",
        "save_checkpoint": "a run saves model.safetensors and checkpoints by itself",
    }

    def _read_arguments(self) -> None:
        plan = self.plan
        size = self.training.get("per_device_batch_size")
        if size is None:
            plan.answers["training.batch_size"] = 8
        elif not settle_literal(plan, size, "training.batch_size"):
            self.refuse_argument(
                "per_device_batch_size", size, "set training.batch_size in scaffold.toml"
            )
        if plan.value(self.training.get("max_num_train_steps")) is not None:
            plan.note("max_num_train_steps: a run ends after num_epochs, too, if that is earlier")
        limit = plan.value(self.training.get("gradient_clip_value"))
        if limit is UNKNOWN:
            self.refuse_argument(
                "gradient_clip_value", self.training["gradient_clip_value"], "set features.clipping"
            )
        elif limit:
            plan.answers |= {"features.clipping.enabled": True, "features.clipping.kind": "value"}
            plan.answers["features.clipping.max_value"] = float(limit)
        done = {"per_device_batch_size", "gradient_clip_value", "train_dataset", "eval_dataset"}
        done |= {
            "create_scheduler_fn",
            "collate_fn",
            "train_dataloader_kwargs",
            "eval_dataloader_kwargs",
        }
        self.comments += take(plan, "accelerated", self.training, done)
        plan.note(
            "num_workers: data is loaded in the training process; set training.num_workers for more"
        )

    def _read_model(self) -> None:
        model = self.given.get("model")
        if model is None:
            raise self.script.error(self.trainer, "this Trainer has no model.")
        self.model_name = model.id if isinstance(model, ast.Name) else ""
        self.plan.model = self.body(self.needs(model), f"return {self.text(model)}")

    def _rename(self) -> list[str]:
        return [f"{self.model_name} = model"] if self.model_name not in ("", "model") else []

    def _read_loaders(self) -> None:
        plan, train = self.plan, self.training.get("train_dataset")
        if train is None:
            raise self.script.error(self.trainer, "train has no training data.")
        sets = {"train": train}
        evaluated = self.training.get("eval_dataset")
        if evaluated is not None and plan.value(evaluated) is not None:
            plan.has_val = True
            sets["val"] = evaluated
        for call in self.script.source.calls("evaluate"):
            given = words(call, ("dataset", "per_device_batch_size"))
            own = isinstance(call.func, ast.Attribute) and root(call.func) in self.names
            if own and "dataset" in given and plan.has_val:
                plan.has_test = True
                sets["test"] = given["dataset"]
        extra = [
            self.training[n]
            for n in ("collate_fn", "train_dataloader_kwargs", "eval_dataloader_kwargs")
            if n in self.training
        ]
        nodes = [*sets.values(), *extra]
        items = self.needs(*nodes, without=frozenset({self.model_name} - {""}))
        if any(self.model_name in item.used for item in items) and self.model_name:
            plan.loaders_take_model = True
        rows = [*(self._rename() if plan.loaders_take_model else []), plan.lines(items)]
        for name, node in sets.items():
            parts = [self.text(node), "config.batch_size"]
            parts.append("shuffle=True" if name == "train" else "")
            parts += [
                f"collate_fn={self.text(n)}"
                for n in [self.training.get("collate_fn")]
                if n is not None
            ]
            more = self.training.get(f"{'train' if name == 'train' else 'eval'}_dataloader_kwargs")
            if more is None or "num_workers" not in self.text(more):
                parts.append("num_workers=config.num_workers")
            parts += (
                [f"**{self.text(more)}"]
                if more is not None and plan.value(more) is not None
                else []
            )
            rows.append(f"{name}_loader = DataLoader({', '.join(filter(None, parts))})")
        names = [f"{name}_loader" for name in sets]
        rows.append(f"return {', '.join(names)}" + ("," if len(names) == 1 else ""))
        plan.loaders = "\n".join(row for row in rows if row)

    def _read_optimizer(self) -> None:
        plan, node = self.plan, self.given.get("optimizer")
        if node is None:
            raise self.script.error(self.trainer, "this Trainer has no optimizer.")
        call = plan.latest(node)
        if isinstance(call, ast.Call):
            given = words(call, ("params", "lr"))
            settle_literal(plan, given.get("lr"), "training.learning_rate")
            settle_literal(plan, given.get("weight_decay"), "training.weight_decay")
        items = self.needs(node, without=frozenset({self.model_name} - {""}))
        plan.optimizer = self.body(
            [], *self._rename(), plan.lines(items), f"return {self.text(node)}"
        )
        schedule = self.training.get("create_scheduler_fn")
        if schedule is None or plan.value(schedule) is None:
            return
        places = [
            part
            for part in self.script.source.all(ast.Attribute)
            if isinstance(part, ast.Attribute) and part.attr in PLACEHOLDERS
        ]
        if places and plan.value(self.training.get("max_num_train_steps")) is not None:
            self.refuse_argument(
                "create_scheduler_fn",
                schedule,
                "max_num_train_steps changes its lengths there: write it in build_optimizer",
            )
            return
        texts = PLACEHOLDERS
        if "training.gradient_accumulation_steps" in plan.answers:
            texts = PLACEHOLDERS | ACCUMULATED
        for part in places:
            plan.edits.replace(part, texts[part.attr])
        made = ast.unparse(plan.latest(schedule))
        if "create_scheduler_fn" in made or ".create_scheduler" in made:
            self.refuse_argument(
                "create_scheduler_fn",
                schedule,
                "pytorch-accelerated fills in its lengths: write it in build_optimizer",
            )
            return
        items = self.needs(schedule, without=frozenset({self.model_name, *used_names(node)} - {""}))
        plan.scheduler = self.body(
            [], *self._rename(), plan.lines(items), f"return {self.text(schedule)}(optimizer)"
        )
        plan.loop.after_update = "scheduler.step()"


class Run(Parts):
    """One call of `train`, and what leads to it."""

    def read(self) -> None:
        plan = self.plan
        self.given = given_to(self.script, self.trainer, TRAINER)
        start = self.find_start()
        self.training = words(start, TRAIN)
        if any(word.arg is None for word in (*start.keywords, *self.trainer.keywords)):
            self.refuse_argument("**", start, "these arguments are not known here")
        plan.answers["training.seed"] = 42
        plan.answers["training.log_every"] = 20
        self._read_arguments()
        self._read_model()
        self._read_loaders()
        self._read_optimizer()
        self._read_own_class()
        self._read_step()
        self._read_callbacks()
        self.read_rest(self.model_name)
        self.finish()

    def _read_own_class(self) -> None:
        self.own: dict[str, ast.FunctionDef] = {}
        node = self.script.definitions.get(self.script.named(self.trainer.func))
        for part in self.script.bases(node) if isinstance(node, ast.ClassDef) else ():
            for name, function in methods(part).items():
                self.own.setdefault(name, function)
        for name, function in self.own.items():
            if name.startswith("calculate_") and self._is_own_step(function):
                continue
            line = self.script.rows[function.lineno - 1].strip()
            self.comments.append(
                self.plan.todo(function, "an own Trainer's method is not carried over", line)
            )
        self.own = {
            name: function
            for name, function in self.own.items()
            if name.startswith("calculate_") and self._is_own_step(function)
        }

    def _is_own_step(self, function: ast.FunctionDef) -> bool:
        """Whether a method only uses the model and the loss of the Trainer."""
        own = function.args.args[0].arg
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in (own, "super"):
                parent = self.script.source.parents[id(node)]
                if not (
                    isinstance(parent, ast.Attribute) and parent.attr in ("model", "loss_func")
                ):
                    return False
        return True

    def _loss(self) -> str:
        """The name of the loss, which becomes a constant of train.py."""
        node = self.given.get("loss_func")
        if node is None or self.plan.value(node) is None:
            return "loss_func"
        items = self.needs(node, without=frozenset({self.model_name} - {""}))
        text = self.text(node)
        if text in self.script.definitions or (not items and isinstance(node, ast.Attribute)):
            return text
        rows = [self.plan.lines(items)] if items else []
        if not text.isidentifier():
            rows.append(f"loss_func = {text}")
            text = "loss_func"
        self.plan.functions.append("\n".join(rows))
        return text

    def _read_step(self) -> None:
        plan, loss = self.plan, self._loss()
        for stage in ("train", "eval"):
            function = self.own.get(f"calculate_{stage}_batch_loss")
            step = STEP.format(loss=loss)
            if function is not None:
                self._move(function, loss)
                step = f'loss = {function.name}(model, batch)["loss"]'
            if stage == "train":
                plan.loop.step = step
            elif plan.has_val:
                step += '\nmeters.log(f"{name}_loss", loss, samples)'
                plan.evaluation = Evaluation(step=step)
                plan.test = plan.evaluation if plan.has_test else None

    def _move(self, function: ast.FunctionDef, loss: str) -> None:
        """A method as a function, with the model as its first parameter."""
        plan, own = self.plan, function.args.args[0]
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == own.arg:
                plan.edits.replace(node, "model" if node.attr == "model" else loss)
        plan.edits.replace(own, "model")
        plan.functions.append(plan.text([function], function.lineno - 1))

    def _read_callbacks(self) -> None:
        plan, node = self.plan, self.given.get("callbacks")
        plan.answers["features.stop_on_nan.enabled"] = node is None
        found = plan.latest(node) if node is not None else None
        for part in (
            found.elts
            if isinstance(found, (ast.List, ast.Tuple))
            else [found] if found is not None else []
        ):
            part = part.value if isinstance(part, ast.Starred) else part
            call = plan.latest(part)
            name = self.script.named(call.func if isinstance(call, ast.Call) else call).rpartition(
                "."
            )[2]
            given = words(call, ("save_path", "watch_metric")) if isinstance(call, ast.Call) else {}
            values: dict[str, Any] = {word: plan.value(value) for word, value in given.items()}
            if name in ("TerminateOnNaNCallback", "DEFAULT_CALLBACKS", "get_default_callbacks"):
                plan.answers["features.stop_on_nan.enabled"] = True
            elif name in WITHOUT_EFFECT:
                plan.note(f"{name}: {WITHOUT_EFFECT[name]}")
            elif name in ("SaveBestModelCallback", "EarlyStoppingCallback") and self._watch(
                name, values
            ):
                pass
            else:
                self.comments.append(plan.todo(part, "this callback is not carried over"))

    def _watch(self, name: str, values: dict[str, Any]) -> bool:
        """Answer for a callback that watches the loss of an evaluation."""
        if values.get("watch_metric", "eval_loss_epoch") != "eval_loss_epoch":
            return False
        feature = "best_model" if name.startswith("Save") else "early_stopping"
        self.plan.answers[f"features.{feature}.enabled"] = True
        if feature == "early_stopping":
            patience = values.get("early_stopping_patience", 1)
            self.plan.answers["features.early_stopping.patience"] = patience
        return True
