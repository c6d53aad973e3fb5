"""Run as a program, on the CPU and in 32 bits.

python run.py record SCRIPT FRAMEWORK N FILE: trains a script with its framework for N updates. The
file gets the weights before and after, and the batches and losses between.
python run.py replay PROJECT FILE LOADERS: trains a project from those weights on those batches, and
prints as JSON what to say of its losses and weights, and whether they differ.
"""

import copy
import dataclasses
import functools
import importlib
import importlib.util
import json
import os
import runpy
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import torch

CLOSE = 1e-6


class Record:
    """What is recorded."""

    def __init__(self, updates: int, path: str = "") -> None:
        self.updates, self.path, self.losses = updates, path, list[float]()
        self.data: dict[str, Any] = {"batches": [], "losses": self.losses, "max_steps": updates}

    def start(self, model: Any, length: int = 0) -> None:
        self.model = model
        self.data |= {"before": copy.deepcopy(model.state_dict()), "length": length}
        patch(torch.Tensor, "backward", self.loss)

    def seed(self) -> None:
        """Seed the dropout of a batch."""
        torch.manual_seed(1000 + len(self.losses))

    def batch(self, batch: Any) -> None:
        self.seed()
        self.data["batches"].append(copy.deepcopy(batch))

    def loss(self, old: Any, loss: Any, *arguments: Any, **given: Any) -> None:
        """Note a loss as it goes backward."""
        self.losses.append(float(loss))
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
    def wrapped(*arguments: Any, **given: Any) -> Any:
        return new(old, *arguments, **given)

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


def record(script: str, framework: str, updates: str, path: str) -> None:
    known = {"lightning": record_lightning, "transformers": record_transformers}
    known.get(framework, record_accelerated)(Record(int(updates), path))
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")
    raise SystemExit(f"{script} ended without training")


class End(Exception):
    """No batch is left."""


class Replay:
    """A loader of recorded batches, which epochs go on with."""

    dataset = collate_fn = None

    def __init__(self, batches: Iterable[Any], length: int) -> None:
        self.batches, self.length = iter(batches), length

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Any]:
        for _ in range(self.length):
            if (batch := next(self.batches, None)) is None:
                raise End
            yield copy.deepcopy(batch)

    def set_epoch(self, epoch: int) -> None:
        pass


def replay(project: str, path: str, loaders: str) -> None:
    sys.path.insert(0, project)
    sys.argv = ["train.py"]
    import train  # type: ignore[import-not-found]

    found, again, config = torch.load(path, weights_only=False), Record(0), train.Config()

    def build_model(old: Any, config: Any) -> Any:
        model = old(config)
        model.load_state_dict(found["before"])
        again.start(model)
        return model

    def find_batch_size(old: Any, batch: Any) -> Any:
        again.seed()
        return old(batch)

    train.build_loaders = lambda *_: [
        Replay(found["batches"], found["length"]),
        *(Replay(cycle(found["batches"][:2]), 2) for _ in range(1, int(loaders))),  # to evaluate
    ]
    patch(train, "build_model", build_model)
    patch(train, "find_batch_size", find_batch_size)
    if hasattr(train, "BestModel"):  # what is compared is the last model
        train.BestModel.load = lambda *_: None
    with tempfile.TemporaryDirectory() as folder:
        changes = {"output_dir": Path(folder), "max_steps": found["max_steps"], "log_every": 0}
        changes |= {"checkpoint_every": 0, "mixed_precision": "no", "patience": 10**9}
        changes = {name: value for name, value in changes.items() if hasattr(config, name)}
        with suppress(End):
            train.main(dataclasses.replace(config, **changes))
    rows, different = compare(found, again.losses, again.model.state_dict())
    print(json.dumps([rows, different]))


def compare(
    found: dict[str, Any], losses: list[float], after: dict[str, Any]
) -> tuple[list[str], bool]:
    """What to say of a training beside a record, and whether they differ."""
    one, two, pairs = len(found["losses"]), len(losses), zip(found["losses"], losses, strict=False)
    differences, weights = [abs(a - b) for a, b in pairs], apart(found["after"], after)
    loss, weight = max(differences, default=0.0), max(weights.values(), default=0.0)
    moved = max(apart(found["after"], found["before"]).values(), default=0.0)
    worst = max(weights, key=lambda name: weights[name], default="")
    rows = [
        f"{found['updates']} updates on the same {one} batches, from the same weights, in 32 bits:",
        f"  largest difference of losses: {loss:.2g}",
        f"  largest difference of weights: {weight:.2g} (in {worst})",
        f"  training moved a weight by up to {moved:.2g}",
    ]
    if loss > CLOSE:
        first = next(n for n, value in enumerate(differences, start=1) if value > CLOSE)
        rows.append(f"  it began with batch {first}")
    if one != two:
        rows.append(f"  the script trained on {one} batches, the project on {two}")
    if missing := sorted(set(found["after"]) ^ set(after)):
        rows.append(f"  only one of them has the weights {', '.join(missing)}")
    return rows, max(loss, weight) > CLOSE or one != two or not moved


def apart(one: dict[str, Any], two: dict[str, Any]) -> dict[str, float]:
    """The largest difference of each weight that both have."""
    return {
        name: float((value.double() - two[name].double()).abs().max())
        for name, value in one.items()
        if isinstance(value, torch.Tensor) and value.numel() and name in two
    }


if __name__ == "__main__":
    os.environ["ACCELERATE_USE_CPU"] = "true"
    programs: dict[str, Any] = {"record": record, "replay": replay}
    programs[sys.argv[1]](*sys.argv[2:])
