"""The proof in a project says what broke: realistic wrong edits, each caught by a failing test."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import render, write_files
from training import run_tests

from scaffold.answers.catalog import Value

Proven = Callable[[str, int], None]
ACCUMULATION = {"training.gradient_accumulation_steps": 4}
EMA = {"features.ema.enabled": True}


@dataclass(frozen=True)
class Mutation:
    """A wrong edit of one file, and what the failing test says."""

    name: str
    file: str
    old: str
    new: str
    says: str
    given: Mapping[str, Value] = field(default_factory=dict)


MUTATIONS = [
    Mutation(
        "schedule steps once for each process",
        "train.py",
        "learning_rate(progress.update, total",
        "learning_rate(progress.update * accelerator.num_processes, total",
        "the schedule depends on the processes",
    ),
    Mutation(
        "schedule steps once for each batch",
        "train.py",
        "learning_rate(progress.update, total",
        "learning_rate(config.gradient_accumulation_steps * progress.update, total",
        "one step of the schedule an update",
        ACCUMULATION,
    ),
    Mutation(
        "gather removed",
        "train.py",
        "losses, predictions, labels = "
        "accelerator.gather_for_metrics((losses, predictions, labels))",
        "pass",
        "is another on 2 processes",
    ),
    Mutation(
        "gathered without cutting the padding",
        "train.py",
        "gather_for_metrics((losses",
        "gather((losses",
        "is another on 2 processes",
    ),
    Mutation(
        "mean of means",
        "train.py",
        "loss_sum += losses.sum()\n        correct += (predictions == labels).sum()\n"
        "        seen += len(labels)",
        "loss_sum += losses.mean()\n        correct += (predictions == labels).float().mean()\n"
        "        seen += 1",
        "average over samples",
    ),
    Mutation(
        "set_epoch dropped",
        "checkpoint.py",
        "loader.set_epoch(progress.epoch)",
        "pass",
        "a resumed epoch has another order",
    ),
    Mutation("eval mode left on", "train.py", "    model.train()\n", "", "dropout must work again"),
    Mutation("eval mode forgotten", "train.py", "    model.eval()\n", "", "two evaluations differ"),
    Mutation(
        "clipping before backward",
        "train.py",
        "            accelerator.backward(loss)\n            progress.batch += 1\n"
        "            # update\n"
        "            accelerator.clip_grad_norm_(parameters, config.clipping_max_norm)\n",
        "            accelerator.clip_grad_norm_(parameters, config.clipping_max_norm)\n"
        "            accelerator.backward(loss)\n            progress.batch += 1\n",
        "clip once, after the last backward",
    ),
    Mutation(
        "clipping forgotten",
        "train.py",
        "accelerator.clip_grad_norm_(parameters, config.clipping_max_norm)",
        "pass",
        "clip once, after the last backward",
    ),
    Mutation(
        "each batch of a window clipped",
        "train.py",
        "loss * (find_batch_size(batch) / window_size))",
        "loss * (find_batch_size(batch) / window_size))\n"
        "                    accelerator.clip_grad_norm_(parameters, config.clipping_max_norm)",
        "clip once, after the last backward",
        ACCUMULATION,
    ),
    Mutation(
        "loss not divided",
        "train.py",
        "loss * (find_batch_size(batch) / window_size)",
        "loss",
        "divide by the samples that are in the window",
        ACCUMULATION,
    ),
    Mutation(
        "divided by the full window at the end of an epoch",
        "train.py",
        "loss * (find_batch_size(batch) / window_size)",
        "loss / config.gradient_accumulation_steps",
        "divide by the samples that are in the window",
        ACCUMULATION,
    ),
    Mutation(
        "shorter last window dropped",
        "train.py",
        "while window := list(islice(batches, config.gradient_accumulation_steps)):",
        "while len(window := list(islice(batches, config.gradient_accumulation_steps))) > 1:",
        "one step of the schedule an update",
        ACCUMULATION,
    ),
    Mutation(
        "rename removed from the checkpoint",
        "checkpoint.py",
        'scratch = folder / "checkpoint.partial"',
        'scratch = folder / f"checkpoint_{self.progress.update:08d}."',
        "written aside",
    ),
    Mutation(
        "gradients not cleared",
        "train.py",
        "parameter.grad = None",
        "pass",
        "an update leaves its gradients to the next",
    ),
    Mutation("no step", "train.py", "optimizer.step()", "pass", "does not lower the loss"),
    Mutation(
        "batches not counted",
        "train.py",
        "progress.batch += 1",
        "pass",
        "a resumed run must end exactly as one that never stopped",
    ),
    Mutation(
        "same dropout on all processes",
        "train.py",
        "set_seed(config.seed, device_specific=True)",
        "set_seed(config.seed)",
        "all processes draw the same dropout",
    ),
    Mutation(
        "model not prepared",
        "train.py",
        "model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(\n"
        "        model, optimizer, train",
        "optimizer, train_loader, val_loader, test_loader = accelerator.prepare(\n"
        "        optimizer, train",
        "2 processes must make the update of one with twice the batch",
    ),
    Mutation(
        "best weights not loaded",
        "train.py",
        "    load_weights(accelerator, model, best_model.path)\n",
        "",
        "not those of the best epoch",
    ),
    Mutation(
        "early stopping not in the checkpoint",
        "train.py",
        'checkpoints.states["early_stopping"] = early_stopping',
        "pass",
        "the stop was forgotten",
    ),
    Mutation(
        "running loss not in the checkpoint",
        "train.py",
        "progress, train_loss=train_loss)",
        "progress)",
        "train_loss",
    ),
    Mutation(
        "metrics file not in the checkpoint",
        "train.py",
        'checkpoints.states["metrics_file"] = metrics_file',
        "pass",
        "metrics.jsonl differs",
    ),
    Mutation(
        "average not in the checkpoint",
        "train.py",
        'checkpoints.states["ema"] = ema',
        "pass",
        "differs: a resumed run must end exactly",
        EMA,
    ),
    Mutation("average not updated", "train.py", "ema.update()", "pass", "not averages", EMA),
    Mutation(
        "average kept in the model after evaluation",
        "callbacks.py",
        "            self.copy(own)",
        "            pass",
        "training goes on with the model's own weights",
        EMA,
    ),
    Mutation(
        "loss read on each process alone",
        "metrics.py",
        'self.accelerator.reduce(torch.stack([self.unread, samples]), "sum")',
        "torch.stack([self.unread, samples])",
        "of 2 processes stopped where the loss is read|wait for each other",
    ),
    Mutation(
        "NaN not looked for",
        "train.py",
        "stop_on_nan(loss, progress)",
        "pass",
        "of 2 processes stopped where the loss is read",
    ),
    Mutation(
        "a signal stops one process",
        "checkpoint.py",
        'told = self.accelerator.reduce(votes, "sum") > 0',
        "pass",
        "no process may go on|wait for each other",
    ),
    Mutation(
        "starts over without a word",
        "checkpoint.py",
        "if found and not resume:",
        "if False:",
        "DID NOT RAISE",
    ),
]
QUICK = ["gather removed"]


def prove(mutation: Mutation | None, folder: Path) -> str:
    """What pytest prints about a project with this edit; empty if it finds nothing wrong."""
    given = mutation.given if mutation else {}
    project = write_files(folder / "project", render(given))
    if mutation:
        path = project / mutation.file
        text = path.read_text()
        assert mutation.old in text, f"{mutation.name}: the templates have changed"
        path.write_text(text.replace(mutation.old, mutation.new))
    result = run_tests(project, "--tb=short", timeout=900)
    return result.stdout if result.returncode else ""


def assert_caught(mutation: Mutation, folder: Path) -> None:
    printed = prove(mutation, folder)
    assert " failed" in printed, f"{mutation.name} is not caught"
    errors = "\n".join(line for line in printed.splitlines() if line.startswith("E "))
    assert re.search(mutation.says, errors), f"{mutation.name}: no test names it\n{errors}"


@pytest.mark.train
@pytest.mark.parametrize("name", QUICK)
def test_a_wrong_edit_is_named(name: str, tmp_path: Path, proven: Proven) -> None:
    [mutation] = [mutation for mutation in MUTATIONS if mutation.name == name]
    assert_caught(mutation, tmp_path)
    proven("wrong edits named", 1)


@pytest.mark.sweep
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_wrong_edit_is_named(mutation: Mutation, tmp_path: Path, proven: Proven) -> None:
    assert_caught(mutation, tmp_path)
    proven("wrong edits named", 1)
