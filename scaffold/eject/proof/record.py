"""Run as a program: trains a script with its own framework for N updates, and records them.

python record.py SCRIPT FRAMEWORK N FILE: on the CPU, in 32 bits. The file gets the weights before
and after, and the batches and losses between. SEED + the number of a batch seeds its dropout.
"""

import copy
import dataclasses
import functools
import importlib.util
import os
import runpy
import sys
from collections.abc import Sized
from itertools import islice
from pathlib import Path
from typing import Any

import torch

SEED = 1000


class Record:
    """What is recorded."""

    def __init__(self, updates: int, path: str) -> None:
        self.updates, self.path = updates, path
        self.data: dict[str, Any] = {"batches": [], "losses": [], "evaluated": [], "length": 0}
        self.data["max_steps"] = updates  # of the project; 0: its schedule is that of a whole run

    def start(self, model: Any, length: int) -> None:
        self.model = model
        self.data["before"] = copy.deepcopy(model.state_dict())
        self.data["length"] = length

    def batch(self, batch: Any) -> None:
        torch.manual_seed(SEED + len(self.data["batches"]))
        self.data["batches"].append(copy.deepcopy(batch))

    def evaluate(self, loader: Any) -> None:
        """Keep two batches, to evaluate the project on. Random numbers stay as they are."""
        with torch.random.fork_rng():
            self.data["evaluated"] = [copy.deepcopy(batch) for batch in islice(loader, 2)]

    def loss(self, loss: Any) -> None:
        self.data["losses"].append(float(loss))

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
    for package in ("lightning.pytorch", "pytorch_lightning"):
        if importlib.util.find_spec(package.split(".")[0]):
            record_package(record, importlib.import_module(package))


def record_package(record: Record, lightning: Any) -> None:
    class Recorder(lightning.Callback):  # type: ignore[misc]
        def on_train_start(self, trainer: Any, module: Any) -> None:
            record.start(module, int(trainer.num_training_batches))

        def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, index: int) -> None:
            record.batch(batch)

        def on_train_batch_end(self, trainer: Any, module: Any, out: Any, *rest: Any) -> None:
            if out is not None:
                loss = out["loss"] if isinstance(out, dict) else out
                record.loss(loss * trainer.accumulate_grad_batches)  # which divided it

        def on_validation_batch_start(
            self, trainer: Any, module: Any, batch: Any, *rest: Any
        ) -> None:
            record.data["evaluated"].append(copy.deepcopy(batch))

        def on_train_end(self, trainer: Any, module: Any) -> None:
            record.end(trainer.global_step)

    def begin(old: Any, self: Any, *arguments: Any, **given: Any) -> None:
        steps = given.get("max_steps", -1)
        most = given.get("limit_val_batches")
        callbacks = given.get("callbacks") or []
        callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
        known = lightning.callbacks  # these need a logger, files or a whole evaluation
        gone = (
            known.EarlyStopping,
            known.LearningRateMonitor,
            known.ModelCheckpoint,
            known.ProgressBar,
        )
        given |= {
            "accelerator": "cpu",
            "devices": 1,
            "strategy": "auto",
            "precision": "32-true",
            "logger": False,
            "enable_checkpointing": False,
            "enable_progress_bar": False,
            "num_sanity_val_steps": 0,
            "max_steps": min(steps, record.updates) if steps > 0 else record.updates,
            "limit_val_batches": (
                2 if most is None or most > 2 or isinstance(most, float) else most
            ),
            "callbacks": [c for c in callbacks if not isinstance(c, gone)] + [Recorder()],
        }
        given.pop("profiler", None)
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
        if isinstance(self.eval_dataset, Sized):
            record.evaluate(self.get_eval_dataloader())
        old(self, *arguments, **given)
        record.end(self.state.global_step)

    def step(old: Any, self: Any, model: Any, inputs: Any, *rest: Any, **given: Any) -> Any:
        record.batch(dict(inputs))
        return old(self, model, inputs, *rest, **given)

    def loss(old: Any, self: Any, model: Any, inputs: Any, *rest: Any, **given: Any) -> Any:
        found = old(self, model, inputs, *rest, **given)
        record.loss(found[0] if isinstance(found, tuple) else found)
        return found

    patch(transformers.TrainingArguments, "__post_init__", settle)
    patch(transformers.Trainer, "train", train)
    patch(transformers.Trainer, "training_step", step)
    patch_later(transformers.Trainer, "compute_loss", loss)


def patch_later(owner: Any, name: str, new: Any) -> None:
    """The same, also for classes that extend this one and have the function of their own."""
    patch(owner, name, new)

    def extend(cls: Any, /, **given: Any) -> None:
        if name in vars(cls):
            patch(cls, name, new)

    owner.__init_subclass__ = classmethod(extend)


def record_accelerated(record: Record) -> None:
    import pytorch_accelerated

    trainer = pytorch_accelerated.Trainer

    known = pytorch_accelerated.callbacks  # these read an evaluation

    def run(old: Any, self: Any) -> None:
        gone = (known.EarlyStoppingCallback, known.ModelEmaCallback, known.SaveBestModelCallback)
        kept = [one for one in self.callback_handler.callbacks if not isinstance(one, gone)]
        self.callback_handler.callbacks = kept
        most = min(self.run_config.max_num_train_steps, record.updates)
        self.run_config = dataclasses.replace(self.run_config, max_num_train_steps=most)
        record.data["max_steps"] = 0
        record.start(self._accelerator.unwrap_model(self.model), len(self._train_dataloader))
        if self._eval_dataloader is not None:
            record.evaluate(self._eval_dataloader)
        old(self)
        record.end(most)

    def step(old: Any, self: Any, batch: Any, number: int) -> None:
        record.batch(batch)
        old(self, batch, number)

    def backward(old: Any, self: Any, loss: Any) -> None:
        record.loss(loss * self.run_config.gradient_accumulation_steps)
        old(self, loss)

    patch(trainer, "_run_training", run)
    patch(trainer, "_perform_forward_and_backward_passes", step)
    patch(trainer, "backward_step", backward)
    patch(trainer, "_run_eval_epoch", lambda old, self, *rest, **given: None)


def main(script: str, framework: str, updates: str, path: str) -> None:
    os.environ["ACCELERATE_USE_CPU"] = "true"
    record = Record(int(updates), path)
    {"lightning": record_lightning, "transformers": record_transformers}.get(
        framework, record_accelerated
    )(record)
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    if script.endswith(".ipynb"):
        from IPython.core.interactiveshell import InteractiveShell  # type: ignore[import-not-found]

        InteractiveShell.instance().safe_execfile_ipy(script, raise_exceptions=True)
    else:
        runpy.run_path(script, run_name="__main__")
    raise SystemExit(f"{script} ended without training")


if __name__ == "__main__":
    main(*sys.argv[1:])
