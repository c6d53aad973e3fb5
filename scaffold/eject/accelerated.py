"""Reads a script that trains with pytorch-accelerated."""

import ast
from collections.abc import Mapping
from typing import Any, ClassVar

from scaffold.check.source import last
from scaffold.eject.arguments import take
from scaffold.eject.flow import words
from scaffold.eject.plan import ORDERS, Evaluation, snippet, table
from scaffold.eject.reader import OPTIMIZER, SAVED, Reader
from scaffold.eject.script import used_names

FRAMEWORK = "pytorch-accelerated"
TRAINER = r"pytorch_accelerated.*Trainer"
NAN = ("TerminateOnNaNCallback", "DEFAULT_CALLBACKS", "get_default_callbacks")


class Run(Reader):
    """One call of `train`, and what leads to it."""

    start_word = "train"
    no_effect: ClassVar = {"evaluate": "", "save_checkpoint": SAVED}

    def read(self) -> None:
        plan = self.plan
        self.given = self.arguments_of_trainer(ORDERS["accelerated"].split())
        self.training = words(self.start, ORDERS["train"].split())
        for name in ("model", "loss_func", "optimizer", "train_dataset"):
            if (self.given | self.training).get(name) is None:
                raise self.script.error(self.trainer, f"this Trainer has no {name}.")
        self.model_name = getattr(self.given["model"], "id", "")
        self.own_methods()
        plan.answers |= {"training.seed": 42, "training.log_every": 20}
        self.clip("value", take(plan, "accelerated", self.training).get("gradient_clip_value"))
        plan.note("num_workers: data is loaded in the training process; set it for more")
        plan.answers["features.stop_on_nan.enabled"] = "callbacks" not in self.given
        self.read_callbacks(self.given.get("callbacks"))
        self._read_loaders()
        self._read_optimizer()
        loss = self.given["loss_func"]  # becomes a constant of train.py
        rows, text = self.needs(loss, without=self.model_name), plan.text(loss)
        bound = "" if text == "loss_func" else f"loss_func = {text}"
        plan.functions.append(self.function(rows, bound))
        plan.step = snippet("step_with_loss_func")
        self.finish()

    def take_callback(self, name: str, values: Mapping[str, Any]) -> bool:
        if name in NAN:
            self.plan.answers["features.stop_on_nan.enabled"] = True
        return name in NAN

    def _read_loaders(self) -> None:
        plan, given = self.plan, self.training
        sets = {"train": given["train_dataset"]}
        if plan.value(given.get("eval_dataset")) is not None:
            sets["val"] = given["eval_dataset"]
        for call in self.script.source.calls("evaluate"):
            node = words(call, ("dataset",)).get("dataset")
            if node is not None and self.is_trainer(call.func) and "val" in sets:
                sets["test"] = node
        step = snippet("step_with_loss_func") + "\n" + snippet("log_loss")
        plan.sets = {name: Evaluation(step=step) for name in sets if name != "train"}
        more = ("collate_fn", "train_dataloader_kwargs", "eval_dataloader_kwargs")
        nodes = [*sets.values(), *(given[name] for name in more if name in given)]
        rows = [self.needs(*nodes, without=self.model_name)]
        for name, node in sets.items():
            parts = [plan.text(node), "config.batch_size"]
            parts += ["shuffle=True"] if name == "train" else []
            if "collate_fn" in given:
                parts.append(f"collate_fn={plan.text(given['collate_fn'])}")
            extra = given.get(f"{'train' if name == 'train' else 'eval'}_dataloader_kwargs")
            parts += [f"**{plan.text(extra)}" if extra else "num_workers=config.num_workers"]
            parts += [] if "generator" in parts[-1] else ["generator=torch.Generator()"]
            rows.append(f"{name}_loader = DataLoader({', '.join(parts)})")
        rows.append(self.returned([f"{name}_loader" for name in sets]))
        plan.loaders_take_model = self.model_name in used_names(*rows)
        plan.loaders = self.with_model(*rows)

    def _read_optimizer(self) -> None:
        plan, node = self.plan, self.given["optimizer"]
        self.settle(plan.latest(node), OPTIMIZER)
        plan.optimizer = self.builder(node)
        schedule = self.training.get("create_scheduler_fn")
        if schedule is None or plan.value(schedule) is None:
            return
        made = plan.latest(schedule)
        if "create_scheduler" in last(getattr(made, "func", made)):
            reason = "pytorch-accelerated fills in its lengths: write it in build_optimizer"
            self.refuse(schedule, reason, "create_scheduler_fn")
            return
        many = "gradient_accumulation_steps"
        many = f" * config.{many}" if f"training.{many}" in plan.answers else ""
        length = f"(total_steps // config.epochs{many})"
        texts = table("code")["placeholders"] | {"TRAIN_DATALOADER_LEN": length}
        for part in ast.walk(made):
            if text := texts.get(getattr(part, "attr", "")):
                plan.edits.replace(part, text)
        plan.scheduler = self.builder(schedule, end="(optimizer)")
        plan.schedule = "step"
