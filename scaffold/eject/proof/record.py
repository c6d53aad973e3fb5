"""Run as a program: trains a script with its own framework for N updates, and records them.

python record.py SCRIPT FRAMEWORK N FILE: on the CPU, in 32 bits. The file gets the weights before
and after, and the batches between, and each loss as it goes backward. SEED + the number of a batch
seeds its dropout.
"""

import copy
import dataclasses
import functools
import importlib
import importlib.util
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import torch

SEED = 1000


class Record:
    """What is recorded."""

    def __init__(self, updates: int, path: str) -> None:
        self.updates, self.path = updates, path
        self.data: dict[str, Any] = {"batches": [], "losses": [], "max_steps": updates}

    def start(self, model: Any, length: int) -> None:
        self.model = model
        self.data |= {"before": copy.deepcopy(model.state_dict()), "length": length}
        patch(torch.Tensor, "backward", self.loss)

    def batch(self, batch: Any) -> None:
        torch.manual_seed(SEED + len(self.data["batches"]))
        self.data["batches"].append(copy.deepcopy(batch))

    def loss(self, old: Any, loss: Any, *arguments: Any, **given: Any) -> None:
        self.data["losses"].append(float(loss))
        old(loss, *arguments, **given)

    def end(self, updates: int) -> None:
        """Write the file, and end the program: what follows the training is not of interest."""
        self.data |= {"after": self.model.state_dict(), "updates": updates}
        torch.save(self.data, self.path)
        sys.stdout.flush()
        os._exit(0)


def patch(owner: Any, name: str, new: Any) -> None:
    """Put `new(old, *arguments)` instead of a function."""
    old = getattr(owner, name)

    @functools.wraps(old)
    def wrapped(self: Any, *arguments: Any, **given: Any) -> Any:
        return new(old, self, *arguments, **given)

    setattr(owner, name, wrapped)


def record_lightning(record: Record) -> None:
    for name in ("lightning.pytorch", "pytorch_lightning"):
        if importlib.util.find_spec(name.split(".")[0]):
            record_package(record, importlib.import_module(name))


def record_package(record: Record, lightning: Any) -> None:
    class Recorder(lightning.Callback):  # type: ignore[misc]
        def on_train_start(self, trainer: Any, module: Any) -> None:
            record.start(module, int(trainer.num_training_batches))

        def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, index: int) -> None:
            record.batch(batch)

        def on_train_end(self, trainer: Any, module: Any) -> None:
            record.end(trainer.global_step)

    names = ("EarlyStopping", "LearningRateMonitor", "ModelCheckpoint", "ProgressBar")
    gone = tuple(getattr(lightning.callbacks, name) for name in names)  # they need more than a loop

    def begin(old: Any, self: Any, *arguments: Any, **given: Any) -> None:
        steps, callbacks = given.get("max_steps", -1), given.get("callbacks") or []
        callbacks = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
        given |= {"accelerator": "cpu", "devices": 1, "strategy": "auto", "precision": "32-true"}
        given |= {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
        given |= {"num_sanity_val_steps": 0, "limit_val_batches": 0, "profiler": None}
        given |= {
            "max_steps": min(steps, record.updates) if steps > 0 else record.updates,
            "callbacks": [one for one in callbacks if not isinstance(one, gone)] + [Recorder()],
        }
        old(self, *arguments, **given)

    patch(lightning.Trainer, "__init__", begin)


def record_transformers(record: Record) -> None:
    import transformers

    def settle(old: Any, self: Any) -> None:
        self.bf16 = self.fp16 = self.push_to_hub = self.load_best_model_at_end = False
        self.use_cpu, self.report_to = True, "none"
        self.eval_strategy = self.save_strategy = "no"
        old(self)

    def train(old: Any, self: Any, *arguments: Any, **given: Any) -> None:
        most, length = self.args.max_steps, len(self.get_train_dataloader())
        if most <= 0:
            batches = length * self.args.num_train_epochs
            most = max(int(batches // self.args.gradient_accumulation_steps), 1)
        self.args.max_steps = min(most, record.updates)
        self.remove_callback(transformers.EarlyStoppingCallback)  # nothing is evaluated
        record.start(self.model, length)
        old(self, *arguments, **given)
        record.end(self.state.global_step)

    def step(old: Any, self: Any, model: Any, inputs: Any, *rest: Any) -> Any:
        record.batch(dict(inputs))
        return old(self, model, inputs, *rest)

    patch(transformers.TrainingArguments, "__post_init__", settle)
    patch(transformers.Trainer, "train", train)
    patch(transformers.Trainer, "training_step", step)


def record_accelerated(record: Record) -> None:
    import pytorch_accelerated

    trainer, known = pytorch_accelerated.Trainer, pytorch_accelerated.callbacks
    gone = (known.EarlyStoppingCallback, known.ModelEmaCallback, known.SaveBestModelCallback)

    def run(old: Any, self: Any) -> None:
        kept = [one for one in self.callback_handler.callbacks if not isinstance(one, gone)]
        self.callback_handler.callbacks = kept  # those that read no evaluation
        most = min(self.run_config.max_num_train_steps, record.updates)
        self.run_config = dataclasses.replace(self.run_config, max_num_train_steps=most)
        record.data["max_steps"] = 0  # its schedule is that of a whole run
        record.start(self._accelerator.unwrap_model(self.model), len(self._train_dataloader))
        old(self)
        record.end(most)

    def step(old: Any, self: Any, batch: Any, number: int) -> None:
        record.batch(batch)
        old(self, batch, number)

    patch(trainer, "_run_training", run)
    patch(trainer, "_perform_forward_and_backward_passes", step)
    patch(trainer, "_run_eval_epoch", lambda old, self, *rest, **given: None)


RECORDS = {
    "lightning": record_lightning,
    "transformers": record_transformers,
    "pytorch-accelerated": record_accelerated,
}


def main(script: str, framework: str, updates: str, path: str) -> None:
    os.environ["ACCELERATE_USE_CPU"] = "true"
    RECORDS[framework](Record(int(updates), path))
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")
    raise SystemExit(f"{script} ended without training")


if __name__ == "__main__":
    main(*sys.argv[1:])
