"""Reads a script that trains with Transformers' Trainer."""

import ast
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from scaffold.check.source import last
from scaffold.eject.arguments import take
from scaffold.eject.flow import words
from scaffold.eject.plan import ORDERS, UNKNOWN, Evaluation, snippet
from scaffold.eject.reader import SAVED, Reader

FRAMEWORK = "transformers"
TRAINER = r"transformers\..*(?<=\.)(Seq2Seq)?Trainer"
OPTIMIZERS = ("adamw_torch", "adamw_torch_fused", "sgd")


class Arguments(Reader):
    """The TrainingArguments, data, optimizer and schedule."""

    start_word = "train"
    model_text = ""  # all that makes the model
    no_effect: ClassVar = {
        "evaluate": "the model is evaluated after the last epoch, too",
        **dict.fromkeys(("save_model", "save_state"), SAVED),
        **dict.fromkeys(("save_metrics", "log_metrics"), "metrics go to metrics.jsonl"),
        **dict.fromkeys(("push_to_hub", "create_model_card"), "`scaffold add share` uploads a run"),
    }

    def _read_arguments(self) -> None:
        plan, node = self.plan, self.given.get("args")
        call = plan.latest(node) if node is not None else None
        if call is not None and "Arguments" not in self.script.named(call):
            text = "the TrainingArguments are not written in the script, so they are not known."
            raise self.script.error(call, text)
        self.arguments = words(call, ("output_dir",))
        self.refuse_stars(call)
        self.used |= {item for item in plan.items if getattr(node, "id", "") in item.bound}
        self._leave_computed()
        values = self.values = take(plan, "transformers", self.arguments)
        answers, epochs, steps = plan.answers, values["num_train_epochs"], values["max_steps"]
        if steps > 0:
            answers["training.max_steps"] = epochs = steps
        elif epochs != int(epochs):
            text = "epochs are whole: set training.max_steps"
            self.refuse(self.arguments["num_train_epochs"], text, "num_train_epochs")
        answers["training.epochs"] = max(int(epochs), 1)
        self.clip("norm", values["max_grad_norm"])
        every = values["logging_steps"]  # or a share of the run
        answers["training.log_every"] = every if every >= 1 else 20
        for name in ("bf16", "fp16"):
            if values.get(name):
                answers["hardware.mixed_precision"] = name
        self._answer_evaluation()

    def _leave_computed(self) -> None:
        """How often a run logs changes nothing else, unless it is evaluated as often."""
        given, value = self.arguments, self.plan.value
        names = {"eval_strategy", "evaluation_strategy"} & given.keys()
        is_only_log = "eval_steps" in given or "steps" not in [value(given[name]) for name in names]
        if is_only_log and value(given.get("logging_steps")) is UNKNOWN:
            del given["logging_steps"]
            self.plan.note("logging_steps: the script computes it; it is --log-every here")

    def _answer_evaluation(self) -> None:
        values, answers = self.values, self.plan.answers
        unit, every = values["save_strategy"], values["save_steps"]
        answers["training.checkpoint_unit"] = "steps" if unit == "steps" else "epochs"
        answers["training.checkpoint_every"] = {"no": 0, "steps": every}.get(unit, 1)
        when = values.get("evaluation_strategy", values["eval_strategy"])
        if when == "steps" and self.plan.sets:
            every = values.get("eval_steps") or values["logging_steps"]
            answers["features.evaluation_by_steps.enabled"] = True
            answers["features.evaluation_by_steps.every"] = every
        best = str(values.get("metric_for_best_model") or "loss").removeprefix("eval_")
        greater = values.get("greater_is_better", not best.endswith("loss"))
        self.best = f"val_{best}", "max" if greater else "min"
        if values.get("load_best_model_at_end") and self.plan.sets:
            self.watch("best_model", *self.best)

    def take_callback(self, name: str, values: Mapping[str, Any]) -> bool:
        if name != "EarlyStoppingCallback" or not self.plan.sets:
            return False
        usual = dict(zip(ORDERS[name].split(), (1, 0.0), strict=True))
        patience, least = (values.get(word, usual[word]) for word in usual)
        if least:
            self.plan.note("EarlyStoppingCallback: the threshold is above the best that counted")
        return self.watch("early_stopping", *self.best, patience=patience, min_delta=float(least))

    def _read_loaders(self) -> None:
        plan, given = self.plan, self.given
        plan.loaders_take_model = True
        sets = {"train": given["train_dataset"]}
        if plan.sets:
            sets["val"] = given["eval_dataset"]
        more = [given[name] for name in ("data_collator", "processing_class") if name in given]
        rows = [self.needs(*sets.values(), *more, without=self.model_name)]
        rows.append(f"collate = {self._collator()}")
        if self.values["remove_unused_columns"]:
            rows.append(snippet("columns", model=self._unadapted("model")))
        drop = ", drop_last=True" if self.values.get("dataloader_drop_last") else ""
        for name, node in sets.items():
            size = "config.batch_size, shuffle=True"
            if name == "val":
                size = f"batch_size={self.values['per_device_eval_batch_size']}"
            rows.append(snippet("loader", part=name, data=plan.text(node), size=size, drop=drop))
        rows.append(self.returned([f"{name}_loader" for name in sets]))
        plan.loaders = self.with_model(*rows)

    def _unadapted(self, name: str) -> str:
        is_peft = re.search("get_peft_model|PeftModel", self.model_text)
        return f"{name}.get_base_model()" if is_peft else name

    def _collator(self) -> str:
        node, processor = self.given.get("data_collator"), self.given.get("processing_class")
        if node is not None and self.plan.value(node) is not None:
            return self.plan.text(node)
        made = ast.unparse(self.plan.latest(processor)) if processor is not None else ""
        if processor is not None and any(w in made for w in ("oken", "FeatureExtractor")):
            return f"DataCollatorWithPadding({self.plan.text(processor)})"
        return "default_data_collator"

    def _read_optimizer(self) -> None:
        values, node = self.values, self.given.get("optimizers")
        if node is not None:
            raise self.script.error(node, "optimizers= is not carried over: give optim=.")
        name = str(values["optim"]).rpartition(".")[2].lower()
        if name not in OPTIMIZERS:
            reason = "write this optimizer in build_optimizer"
            self.refuse(self.arguments["optim"], reason, "optim")
            name = "adamw_torch_fused"
        betas, eps = (values["adam_beta1"], values["adam_beta2"]), values["adam_epsilon"]
        self.plan.optimizer = snippet("groups", optimizer=snippet(name, betas=betas, eps=eps))
        kind = str(values["lr_scheduler_type"]).rpartition(".")[2].lower()
        warmup = values.get("warmup_ratio") or values["warmup_steps"]
        steps = str(int(warmup)) if warmup >= 1 or not warmup else f"ceil({warmup} * total_steps)"
        more = values.get("lr_scheduler_kwargs")
        more = f", scheduler_specific_kwargs={more!r}" if more else ""
        made = f'get_scheduler("{kind}", optimizer, {steps}, total_steps{more})'
        self.plan.scheduler = f"return {made}"
        self.plan.schedule = "step"


class Run(Arguments):
    """One call of `train`, and what leads to it."""

    def read(self) -> None:
        plan = self.plan
        self.given = self.arguments_of_trainer(ORDERS["transformers"].split())
        if "tokenizer" in self.given:
            self.given["processing_class"] = self.given.pop("tokenizer")
        known = {*ORDERS["transformers"].split(), "callbacks", "compute_metrics", "optimizers"}
        for name, node in self.given.items():
            if name not in known and plan.value(node) is not None:
                self.refuse(node, "this argument is not carried over", name)
        for name in ("model", "train_dataset"):
            if self.given.get(name) is None:
                raise self.script.error(self.trainer, f"this Trainer has no {name}.")
        self.model_name = getattr(self.given["model"], "id", "")
        if plan.value(self.given.get("eval_dataset")) is not None:
            plan.sets["val"] = Evaluation()
        if self.start.args or self.start.keywords:
            self.refuse(self.start, "a checkpoint of Transformers can't be resumed here")
        self._read_arguments()
        self._read_step()
        self._read_loaders()
        self._read_optimizer()
        self.read_callbacks(self.given.get("callbacks"))
        if self.values.get("gradient_checkpointing") or self.values.get("activation_checkpointing"):
            node, name = self.given["model"], self.model_name or "model"
            rows = [self.needs(node), "" if self.model_name else f"model = {plan.text(node)}"]
            rows += [f"{name}.gradient_checkpointing_enable()", f"return {name}"]
            plan.model = self.function(*rows)
        self.finish()

    def _read_step(self) -> None:
        plan, own = self.plan, self.own_methods("compute_loss").get("compute_loss")
        model = plan.latest(self.given["model"])
        text = self.function(self.needs(model), plan.text(model))
        parts = [node for nodes in plan.definitions_of(text).values() for node in nodes]
        self.model_text = "\n".join([text, *map(plan.block, parts)])
        kind = "causal_step" if re.search("CausalLM|LMHead", self.model_text) else "step"
        both = plan.step = snippet(kind)
        if own is not None:
            self._move_compute_loss(own)
            plan.step = "loss = compute_loss(model, batch)"
            both = "loss, outputs = compute_loss(model, batch, return_outputs=True)"
        name = "gradient_accumulation_steps"
        if plan.answers.get(f"training.{name}", 1) != 1:
            if own is not None:
                self.refuse(self.arguments[name], "each batch of a step counts the same here", name)
            else:
                plan.step = snippet("accumulated_step")
                plan.batches = f"with_items(bar, accelerator, {self._unadapted('module')}, config)"
        if plan.sets:
            plan.sets["val"] = self._evaluation(both)

    def _move_compute_loss(self, function: ast.FunctionDef) -> None:
        plan, own = self.plan, function.args.args[0]
        for node in ast.walk(function):
            if getattr(node, "id", "") in (own.arg, "super"):
                text = f"compute_loss uses the Trainer itself: `{ast.unparse(node)}`."
                raise self.script.error(node, text)
        first = plan.edits.span(own)[0]
        plan.edits.replace((first, plan.edits.span(function.args.args[1])[0]), "")
        plan.functions.append(plan.block(function))

    def _evaluation(self, step: str) -> Evaluation:
        plan, metrics = self.plan, self.given.get("compute_metrics")
        step = f"{step}\n{snippet('log_loss')}"
        if metrics is None or plan.value(metrics) is None:
            return Evaluation(step=step)
        plan.functions.append(self.needs(metrics, without=self.model_name))
        join = self.values["eval_do_concat_batches"]
        end = snippet("end", metrics=plan.text(metrics))
        if self.values.get("predict_with_generate") and last(self.trainer) == "Seq2SeqTrainer":
            limits = {"max_length": self.values.get("generation_max_length")}
            limits["num_beams"] = self.values.get("generation_num_beams")
            given = "".join(f", {name}={value}" for name, value in limits.items() if value)
            step = snippet("texts", limits=given, step=step)
            return Evaluation(snippet("texts_start", join=join), step, end)
        is_span = "start_positions" in self.script.text
        names = ["start_positions", "end_positions"] if is_span else ["labels"]
        names = self.values.get("label_names") or names
        labels = "(" + "".join(f'"{name}", ' for name in names).rstrip() + ")"
        step = snippet("metrics", labels=labels, step=step)  # the loss may pop labels
        return Evaluation(snippet("start", join=join), step, end)
