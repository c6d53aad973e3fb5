"""Reads a script that trains with Transformers' Trainer."""

import ast
import json
from collections.abc import Mapping
from typing import Any

from scaffold.eject.arguments import take
from scaffold.eject.flow import items_before
from scaffold.eject.plan import UNKNOWN, Evaluation, Plan, given_to, words
from scaffold.eject.reader import Reader
from scaffold.eject.script import Script, methods, used_names
from scaffold.eject.settings import take_settings

TRAINERS = (".Trainer", ".Seq2SeqTrainer")
SAVED = "a run saves model.safetensors and checkpoints by itself"
STOPPING = "set features.early_stopping in scaffold.toml"
SHARED = "`scaffold add share` uploads a run"
NO_EFFECT = {
    "evaluate": "the model is evaluated after the last epoch, too",
    "save_model": SAVED,
    "save_state": SAVED,
    "save_metrics": "metrics go to metrics.jsonl",
    "log_metrics": "metrics go to metrics.jsonl",
    "push_to_hub": SHARED,
    "create_model_card": SHARED,
}
MODEL = [
    "model",
    "args",
    "data_collator",
    "train_dataset",
    "eval_dataset",
    "processing_class",
    "model_init",
]
DEFAULTS: Mapping[str, Any] = {  # of TrainingArguments
    "per_device_train_batch_size": 8,
    "num_train_epochs": 3,
    "learning_rate": 5e-5,
    "weight_decay": 0.0,
    "max_grad_norm": 1.0,
    "logging_steps": 500,
    "seed": 42,
    "save_steps": 500,
}
SPECIAL = {  # arguments that are not an answer as they are
    "adam_beta1",
    "adam_beta2",
    "adam_epsilon",
    "bf16",
    "dataloader_drop_last",
    "eval_steps",
    "eval_strategy",
    "evaluation_strategy",
    "fp16",
    "gradient_checkpointing",
    "greater_is_better",
    "learning_rate",
    "load_best_model_at_end",
    "logging_steps",
    "lr_scheduler_kwargs",
    "lr_scheduler_type",
    "max_grad_norm",
    "max_steps",
    "metric_for_best_model",
    "no_cuda",
    "num_train_epochs",
    "optim",
    "per_device_eval_batch_size",
    "per_device_train_batch_size",
    "prediction_loss_only",
    "project",
    "remove_unused_columns",
    "report_to",
    "save_steps",
    "save_strategy",
    "save_total_limit",
    "torch_compile",
    "torch_compile_backend",
    "warmup_ratio",
    "warmup_steps",
    "weight_decay",
}
OPTIMIZERS = {
    "adamw_torch": "AdamW(groups, lr=config.learning_rate, betas={betas}, eps={eps})",
    "adamw_torch_fused": (
        "AdamW(groups, lr=config.learning_rate, betas={betas}, eps={eps}, fused=True)"
    ),
    "sgd": "torch.optim.SGD(groups, lr=config.learning_rate)",
    "adagrad": "torch.optim.Adagrad(groups, lr=config.learning_rate)",
    "rmsprop": "torch.optim.RMSprop(groups, lr=config.learning_rate)",
}
GROUPS = """norms = [r"bias", r"layernorm", r"rmsnorm", r"(^|\\.)norm($|\\.)", r"_norm($|\\.)"]
decayed = set(get_parameter_names(model, [nn.LayerNorm], norms))  # all but norms and biases
named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
groups = [
    {"params": [p for name, p in named if name in decayed], "weight_decay": config.weight_decay},
    {"params": [p for name, p in named if name not in decayed], "weight_decay": 0.0},
]"""
COLUMNS = '''def keep_columns(dataset, collate, model):
    """The dataset and its collator without the columns that the model does not take."""
    names = [*inspect.signature(model.forward).parameters, "label", "label_ids", "labels"]
    if hasattr(dataset, "column_names"):
        return dataset.remove_columns(sorted(set(dataset.column_names) - set(names))), collate
    return dataset, RemoveColumnsCollator(collate, names)'''


def find_transformers(script: Script) -> ast.Call | None:
    """The call that makes a Trainer, also one of an own class."""
    own = {part.name for part in script.classes() if _is_trainer(script, part)}
    for call in script.source.all(ast.Call):
        if isinstance(call, ast.Call):
            name = script.named(call.func)
            if (name.startswith("transformers.") and name.endswith(TRAINERS)) or name in own:
                return call
    return None


def _is_trainer(script: Script, node: ast.ClassDef) -> bool:
    named = [script.named(base) for part in script.bases(node) for base in part.bases]
    return any(name.startswith("transformers.") and name.endswith(TRAINERS) for name in named)


def read_transformers(script: Script, trainer: ast.Call) -> Plan:
    """Raises ScaffoldError for what can't be read."""
    plan = Plan(script, "transformers", items_before(script, trainer))
    take_settings(plan)
    Run(plan, trainer).read()
    return plan


class Arguments(Reader):
    """The TrainingArguments."""

    start_word, seed_word, no_effect = "train", "set_seed", NO_EFFECT

    def _read_arguments(self) -> None:
        plan, node = self.plan, self.given.get("args")
        self.arguments: dict[str, ast.expr] = {}
        if node is not None:
            call = plan.latest(node)
            if not isinstance(call, ast.Call) or "Arguments" not in self.script.named(call.func):
                raise self.script.error(
                    node,
                    "the TrainingArguments are not written in the script, so they are not "
                    "known here.",
                )
            self.arguments = words(call, ("output_dir",))
            if any(word.arg is None for word in call.keywords):
                self.refuse_argument("**", call, "these arguments are not known here")
            self.used |= {
                item for item in plan.items if isinstance(node, ast.Name) and node.id in item.bound
            }
        self.values = {
            **DEFAULTS,
            **{name: plan.value(value) for name, value in self.arguments.items()},
        }
        for name, default in DEFAULTS.items():
            if self.values[name] is UNKNOWN:
                self.refuse_argument(name, self.arguments[name], "its value is not known here")
                self.values[name] = default
        self._answer()
        self.comments += take(plan, "transformers", self.arguments, SPECIAL)

    def _answer(self) -> None:
        """The answers that are not an argument under another name."""
        values, answers = self.values, self.plan.answers
        answers["training.batch_size"] = values["per_device_train_batch_size"]
        for name in ("learning_rate", "weight_decay", "seed"):
            answers[f"training.{name}"] = values[name]
        epochs, steps = values["num_train_epochs"], values.get("max_steps", -1)
        if steps is UNKNOWN or epochs != int(epochs):
            node = self.arguments["max_steps" if steps is UNKNOWN else "num_train_epochs"]
            self.refuse_argument(
                "num_train_epochs", node, "epochs are whole: set training.max_steps"
            )
        elif steps > 0:
            answers["training.max_steps"] = steps
        answers["training.epochs"] = (
            steps if steps is not UNKNOWN and steps > 0 else max(int(epochs), 1)
        )
        norm = values["max_grad_norm"]
        answers["features.clipping.enabled"] = bool(norm)
        if norm:
            answers |= {"features.clipping.kind": "norm", "features.clipping.max_norm": float(norm)}
        every = values["logging_steps"]
        answers["training.log_every"] = every if isinstance(every, int) and every >= 1 else 20
        for name in ("bf16", "fp16"):
            if values.get(name) is UNKNOWN:
                self.refuse_argument(
                    name, self.arguments[name], "set hardware.mixed_precision in scaffold.toml"
                )
            elif values.get(name):
                answers["hardware.mixed_precision"] = name
        if values.get("no_cuda") is True:
            answers["hardware.use_cpu"] = True
        if values.get("torch_compile") is True:
            answers["hardware.dynamo_backend"] = str(
                values.get("torch_compile_backend") or "inductor"
            )
        self._answer_evaluation()
        trackers = values.get("report_to")
        trackers = [trackers] if isinstance(trackers, str) else trackers
        for tracker in trackers if isinstance(trackers, list) else ():
            if tracker in ("wandb", "tensorboard", "mlflow", "trackio"):
                answers |= {"features.tracker.enabled": True, "features.tracker.kind": tracker}

    def _answer_evaluation(self) -> None:
        values, answers = self.values, self.plan.answers
        unit = values.get("save_strategy", "steps")
        answers["training.checkpoint_unit"] = "steps" if unit == "steps" else "epochs"
        every = values["save_steps"] if unit == "steps" else 1
        answers["training.checkpoint_every"] = (
            0 if unit == "no" else every if isinstance(every, int) else 500
        )
        if isinstance(values.get("save_total_limit"), int):
            answers["training.keep_checkpoints"] = values["save_total_limit"]
        when = values.get("eval_strategy", values.get("evaluation_strategy", "no"))
        if when == "steps":
            every = values.get("eval_steps") or values["logging_steps"]
            answers["features.evaluation_by_steps.enabled"] = True
            answers["features.evaluation_by_steps.every"] = every if isinstance(every, int) else 500
        self.best = str(values.get("metric_for_best_model") or "loss").removeprefix("eval_")
        greater = values.get("greater_is_better", not self.best.endswith("loss"))
        self.mode = "max" if greater else "min"
        if values.get("load_best_model_at_end") is True:
            answers["features.best_model.enabled"] = True
            answers["features.best_model.mode"] = self.mode
            self.plan.monitors["best_model"] = f"val_{self.best}"


class Loaders(Arguments):
    """Model and data."""

    def _read_model(self) -> None:
        plan, model = self.plan, self.given.get("model")
        self.model_name = model.id if isinstance(model, ast.Name) else ""
        row = ""
        if self.values.get("gradient_checkpointing") is True:
            row = "model.gradient_checkpointing_enable()\n"
        if model is not None:
            items = self.needs(model)
            text = self.text(model)
        elif "model_init" in self.given:
            items = self.needs(self.given["model_init"])
            text = f"{self.text(self.given['model_init'])}()"
        else:
            raise self.script.error(self.trainer, "this Trainer has no model.")
        if row and text != "model":
            row = f"model = {text}\n{row}"
            text = "model"
        plan.model = self.body(items, f"{row}return {text}")

    def _model_class(self) -> str:
        """The name of the class of the model: `transformers.GPT2LMHeadModel`, or one's own."""
        node = self.given.get("model")
        call = self.plan.latest(node) if node is not None else None
        name = self.script.named(call.func) if isinstance(call, ast.Call) else ""
        return name.removesuffix(".from_pretrained").removesuffix(".from_config")

    def _ignored(self) -> str:
        """The outputs of the model that are not predictions, as in Trainer.prediction_step."""
        own = self.script.definitions.get(self._model_class())
        if isinstance(own, ast.ClassDef) and not self.script.extends(own, "PreTrainedModel"):
            return '["loss"]'
        known = '"keys_to_ignore_at_inference", ["cache", "past_key_values"]'
        return f'["loss", *getattr(module.config, {known})]'

    def _label_names(self) -> str:
        if isinstance(names := self.values.get("label_names"), list):
            return "(" + "".join(f"{json.dumps(name)}, " for name in names).rstrip() + ")"
        found = "start_positions" in self.script.text
        return '("start_positions", "end_positions")' if found else '("labels",)'

    def _collator(self) -> str:
        node = self.given.get("data_collator")
        if node is not None and self.plan.value(node) is not None:
            return self.text(node)
        processor = self.given.get("processing_class")
        made = ast.unparse(self.plan.latest(processor)) if processor is not None else ""
        if processor is not None and (
            "Tokenizer" in made or "FeatureExtractor" in made or "token" in made
        ):
            return f"DataCollatorWithPadding({self.text(processor)})"
        return "default_data_collator"

    def _read_loaders(self) -> None:
        plan, train = self.plan, self.given.get("train_dataset")
        if train is None:
            raise self.script.error(self.trainer, "this Trainer has no training data.")
        sets = [train]
        evaluated = self.given.get("eval_dataset")
        plan.has_val = evaluated is not None and plan.value(evaluated) is not None
        if plan.has_val and evaluated is not None:
            sets.append(evaluated)
        nodes: list[ast.AST] = [*sets]
        nodes += [self.given[n] for n in ("data_collator", "processing_class") if n in self.given]
        plan.loaders_take_model = True
        items = self.needs(*nodes, without=frozenset({self.model_name} - {""}))
        uses = self.model_name and any(self.model_name in item.used for item in items)
        uses = uses or any(self.model_name in used_names(node) for node in nodes if self.model_name)
        rows = [f"{self.model_name} = model"] if uses and self.model_name != "model" else []
        rows += [plan.lines(items), f"collate = {self._collator()}"]
        kept = self.values.get("remove_unused_columns", True) is not False
        if kept:
            plan.data_functions.append(COLUMNS)
        drop = ", drop_last=True" if self.values.get("dataloader_drop_last") is True else ""
        size = self.values.get("per_device_eval_batch_size", 8)
        for name, node in zip(("train", "val"), sets, strict=False):
            found = self.text(node)
            collate = "collate"
            if kept:
                rows.append(f"{name}_set, {name}_collate = keep_columns({found}, collate, model)")
                found, collate = f"{name}_set", f"{name}_collate"
            first = "config.batch_size, shuffle=True" if name == "train" else f"batch_size={size}"
            rows.append(
                f"{name}_loader = DataLoader(\n    {found}, {first}, collate_fn={collate}, "
                f"num_workers=config.num_workers{drop}\n)"
            )
        names = [f"{name}_loader" for name, _ in zip(("train", "val"), sets, strict=False)]
        end = "," if len(names) == 1 else ""
        plan.loaders = "\n".join(row for row in [*rows, f"return {', '.join(names)}{end}"] if row)


class Optimizers(Loaders):
    """Optimizer and schedule."""

    def _read_optimizer(self) -> None:
        plan, node = self.plan, self.given.get("optimizers")
        pair = plan.latest(node) if node is not None else None
        made: list[ast.expr] = list(pair.elts) if isinstance(pair, ast.Tuple) else []
        if node is not None and len(made) != 2:
            raise self.script.error(node, "which optimizer and schedule is not known.")
        rename = [f"{self.model_name} = model"] if self.model_name not in ("", "model") else []
        if made and plan.value(made[0]) is not None:
            optimizer = made[0]
            items = self.needs(optimizer, without=frozenset({self.model_name}))
            plan.optimizer = self.body(
                [], *rename, plan.lines(items), f"return {self.text(optimizer)}"
            )
            schedule = made[1]
            if plan.value(schedule) is not None:
                names = frozenset({self.model_name, *used_names(optimizer)})
                items = self.needs(schedule, without=names)
                again = [
                    f"{n} = optimizer"
                    for n in used_names(optimizer)
                    if n not in ("optimizer", self.model_name)
                ]
                plan.scheduler = self.body(
                    [], *rename, *again, plan.lines(items), f"return {self.text(schedule)}"
                )
                plan.loop.after_update = "scheduler.step()"
                return
        else:
            self._usual_optimizer()
        self._usual_schedule()

    def _usual_optimizer(self) -> None:
        values = self.values
        name = str(values.get("optim", "adamw_torch_fused")).rpartition(".")[2].lower()
        if name not in OPTIMIZERS:
            self.refuse_argument(
                "optim", self.arguments["optim"], "write this optimizer in build_optimizer"
            )
            name = "adamw_torch_fused"
        betas = tuple(values.get(f"adam_beta{n}", d) for n, d in ((1, 0.9), (2, 0.999)))
        made = OPTIMIZERS[name].format(betas=betas, eps=values.get("adam_epsilon", 1e-8))
        self.plan.optimizer = f"{GROUPS}\nreturn {made}"

    def _usual_schedule(self) -> None:
        plan, values = self.plan, self.values
        kind = str(values.get("lr_scheduler_type", "linear")).rpartition(".")[2].lower()
        warmup = values.get("warmup_ratio") or values.get("warmup_steps") or 0
        if UNKNOWN in (warmup, values.get("lr_scheduler_kwargs"), values.get("lr_scheduler_type")):
            self.comments.append(
                plan.todo(self.trainer, "the warm-up or the schedule is not known here", "warmup")
            )
            warmup = 0
        steps = str(int(warmup)) if warmup >= 1 or not warmup else f"ceil({warmup} * total_steps)"
        more = values.get("lr_scheduler_kwargs")
        more = f", scheduler_specific_kwargs={more!r}" if more else ""
        plan.scheduler = f'return get_scheduler("{kind}", optimizer, {steps}, total_steps{more})'
        plan.loop.after_update = "scheduler.step()"


class Run(Optimizers):
    """One call of `train`, and what leads to it."""

    def read(self) -> None:
        self.given = given_to(self.script, self.trainer, MODEL)
        if "tokenizer" in self.given:
            self.given["processing_class"] = self.given.pop("tokenizer")
        start = self.find_start()
        if start.args or start.keywords:
            self.refuse_argument(
                "train", start, "a checkpoint of Transformers can't be resumed here"
            )
        self._read_arguments()
        self._read_model()
        self._read_own_class()
        self._read_loaders()
        self._read_optimizer()
        self._read_step()
        self._read_callbacks()
        self.read_rest(self.model_name)
        self.finish()

    def _read_own_class(self) -> None:
        """An own Trainer: its compute_loss becomes a function, other methods a TODO."""
        self.compute_loss: ast.FunctionDef | None = None
        node = self.script.definitions.get(self.script.named(self.trainer.func))
        if not isinstance(node, ast.ClassDef):
            return
        for part in self.script.bases(node):
            for name, function in methods(part).items():
                if name == "compute_loss" and self.compute_loss is None:
                    self.compute_loss = function
                elif name != "compute_loss":
                    line = self.script.rows[function.lineno - 1].strip()
                    self.comments.append(
                        self.plan.todo(
                            function, "an own Trainer's method is not carried over", line
                        )
                    )
        if self.compute_loss is not None:
            self._move_compute_loss(self.compute_loss)

    def _move_compute_loss(self, function: ast.FunctionDef) -> None:
        plan, own = self.plan, function.args.args[0]
        for node in ast.walk(function):
            if (isinstance(node, ast.Name) and node.id == own.arg) or ast.unparse(
                node
            ) == "super()":
                raise self.script.error(
                    node, f"compute_loss uses the Trainer itself: `{ast.unparse(node)}`."
                )
        first = plan.edits.span(own)[0]
        plan.edits.replace((first, plan.edits.span(function.args.args[1])[0]), "")
        plan.functions.append(plan.text([function], function.lineno - 1))

    def _read_step(self) -> None:
        plan = self.plan
        if self.compute_loss is not None:
            plan.loop.step = "loss = compute_loss(model, batch)"
            both = "loss, outputs = compute_loss(model, batch, return_outputs=True)"
        elif (
            "compute_loss_func" in self.given
            and plan.value(self.given["compute_loss_func"]) is not None
        ):
            node = self.given["compute_loss_func"]
            plan.functions += [plan.lines(items)] if (items := self.needs(node)) else []
            plan.loop.step = (
                'labels = batch.pop("labels")\noutputs = model(**batch)\n'
                "count = (labels != -100).sum()\n"
                f"loss = {self.text(node)}(outputs, labels, num_items_in_batch=count)"
            )
            both = plan.loop.step
        else:
            plan.loop.step = "outputs = model(**batch)\nloss = outputs.loss"
            if self._model_class().endswith(("CausalLM", "LMHeadModel")):
                plan.loop.step = (  # the Trainer's mean counts the first token of each row, too
                    'count = (batch["labels"] != -100).sum()\n'
                    "outputs = model(**batch, num_items_in_batch=count)\nloss = outputs.loss"
                )
            both = plan.loop.step
        steps = plan.answers.get("training.gradient_accumulation_steps", 1)
        if steps != 1:
            reason = "each batch counts the same in a step, not each token"
            self.refuse_argument(
                "gradient_accumulation_steps", self.arguments["gradient_accumulation_steps"], reason
            )
        if plan.has_val:
            plan.evaluation = self._evaluation(both)

    def _evaluation(self, step: str) -> Evaluation:
        plan = self.plan
        metrics = self.given.get("compute_metrics")
        log = 'meters.log(f"{name}_loss", loss, samples)'
        if metrics is None or plan.value(metrics) is None:
            return Evaluation(step=f"{step}\n{log}")
        items = self.needs(
            metrics, *[self.given[n] for n in ("preprocess_logits_for_metrics",) if n in self.given]
        )
        items = [item for item in items if self.model_name not in item.bound]
        if items:
            plan.functions.append(plan.lines(items))
        change = self.given.get("preprocess_logits_for_metrics")
        rows = [
            f"labels = tuple(batch[key] for key in {self._label_names()})",  # the loss may pop them
            step,
            log,
            f"ignored = {self._ignored()}",
            "logits = tuple(value for key, value in outputs.items() if key not in ignored)",
            "logits, labels = (part[0] if len(part) == 1 else part for part in (logits, labels))",
        ]
        if change is not None:
            rows.append(f"logits = {self.text(change)}(logits, labels)")
        rows += [
            "pair = accelerator.pad_across_processes((logits, labels), dim=1, pad_index=-100)",
            "logits, labels = accelerator.gather_for_metrics(pair)",
            "predictions.add(logits)",
            "references.add(labels)",
        ]
        start = (
            "predictions, references = EvalLoopContainer(True, -100), EvalLoopContainer(True, -100)"
        )
        end = (
            "predictions, references = predictions.get_arrays(), references.get_arrays()\n"
            f"values = {self.text(metrics)}(EvalPrediction(predictions, references))\n"
            'meters.log_dict({f"{name}_{key}": value for key, value in values.items()}, 1)'
        )
        return Evaluation(start, "\n".join(rows), end)

    def _read_callbacks(self) -> None:
        node = self.given.get("callbacks")
        found = self.plan.latest(node) if node is not None else ast.Tuple([])
        for part in found.elts if isinstance(found, (ast.List, ast.Tuple)) else [found]:
            call = self.plan.latest(part)
            name = self.script.named(call.func) if isinstance(call, ast.Call) else ""
            if name.endswith(".EarlyStoppingCallback") and isinstance(call, ast.Call):
                given = words(call, ("early_stopping_patience", "early_stopping_threshold"))
                patience = self.plan.value(given.get("early_stopping_patience")) or 1
                least = self.plan.value(given.get("early_stopping_threshold")) or 0.0
                if UNKNOWN in (patience, least):
                    self.comments.append(self.plan.todo(part, STOPPING))
                    continue
                self.plan.answers |= {
                    "features.early_stopping.enabled": True,
                    "features.early_stopping.min_delta": float(least),
                    "features.early_stopping.mode": self.mode,
                    "features.early_stopping.patience": patience,
                }
                self.plan.monitors["early_stopping"] = f"val_{self.best}"
            else:
                self.comments.append(self.plan.todo(part, "this callback is not carried over"))
