"""Ten steps of train.py beside those of another trainer, with the same samples in their order."""

from pathlib import Path

from pytest import approx

from scaffold.answers.catalog import Value
from support.training import tell

# what a trainer of another library does not do by itself
OFF: dict[str, Value] = {
    f"features.{name}.enabled": False for name in ("schedule", "clipping", "best_model")
}
IN_ORDER = '''
import json, pathlib, sys
from dataclasses import replace
import torch
import train
from data import build_loaders
from torch.utils.data import DataLoader, SequentialSampler

def train_in_order(list_samples, **settings):
    """The losses of train.py, with these samples for a Config."""
    def build(config):
        first, *others = build_loaders(config)
        samples = list_samples(config)
        return DataLoader(samples, config.batch_size, collate_fn=first.collate_fn), *others

    train.build_loaders = build
    train.main(train.Config(epochs=1, max_steps=10, weight_decay=0.0, log_every=1, **settings))
    rows = [json.loads(row) for row in open(next(pathlib.Path("runs").glob("*/metrics.jsonl")))]
    return [row["loss"] for row in rows if "loss" in row]

def in_order(trainer):
    """A trainer that takes one sample after the other, and where it notes its losses."""
    losses = []

    class InOrder(trainer):
        def _get_train_sampler(self, dataset=None):
            return SequentialSampler(self.train_dataset)

        def compute_loss(self, *given, **named):
            loss = super().compute_loss(*given, **named)
            losses.append(float(loss))
            return loss

    return InOrder, losses

def sums_of_two(losses):
    return [sum(losses[step : step + 2]) for step in range(0, len(losses), 2)]

def with_marks(pairs):
    """Ten steps are enough to learn that no answer ends with !"""
    return [
        replace(pair, rejected=[*pair.chosen[:-1], {**pair.chosen[-1], "content": text + "!"}])
        for pair in pairs
        for text in [pair.chosen[-1]["content"]]
    ]

ARGUMENTS = {"output_dir": "other", "lr_scheduler_type": "constant", "max_steps": 10}
ARGUMENTS |= {"weight_decay": 0.0, "max_grad_norm": 0.0, "report_to": "none", "use_cpu": True}
ARGUMENTS |= {"save_strategy": "no", "disable_tqdm": True}
# of TRL, in windows of two batches
WINDOW = {"batch_size": 4, "gradient_accumulation_steps": 2}
ARGUMENTS_OF_TRL = {**ARGUMENTS, "per_device_train_batch_size": 4, "bf16": False}
ARGUMENTS_OF_TRL |= {"gradient_accumulation_steps": 2, "gradient_checkpointing": False}
ARGUMENTS_OF_TRL["max_length"] = 128
'''


def ten_losses(project: Path, script: str, *arguments: str) -> list[float]:
    """Those that a script puts into `ours`, which must be those in `theirs`."""
    code = f"{IN_ORDER}{script}\nprint(json.dumps([ours, theirs]))"
    ours, theirs = tell(project, code, *arguments, real=True)
    assert len(ours) == len(theirs) == 10
    assert ours == approx(theirs, rel=0, abs=1e-5)
    return list(ours)
