"""Train a tagger of names on generated sentences.

`python train.py --help` lists the settings. Run `pytest` after you edit the loop.
"""

import json
import time
from dataclasses import dataclass
from itertools import islice
from math import cos, inf, pi
from pathlib import Path
from typing import Literal

import torch
import torch.nn.functional as F
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import set_seed
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from callbacks import LearningCurves
from checkpoint import Checkpoints, newest_checkpoint
from data import build_loaders, count_cut, tag_names
from environment import check_environment, describe, write_config
from flags import parse_flags
from metrics import (
    IGNORED,
    MetricsFile,
    RunningLoss,
    count_entities,
    count_tokens,
    entity_scores,
    format_metrics,
)
from model import build_model
from progress import Progress, count_steps, log, progress_bar
from weights import save_weights


@dataclass(frozen=True)
class Config:
    epochs: int = 4  # passes over the training data
    batch_size: int = 32  # samples per batch on each process
    learning_rate: float = 0.003  # peak learning rate
    weight_decay: float = 0.01  # weight decay; 0: off
    max_steps: int = 0  # stop after this many steps; 0: after the last epoch
    num_workers: int = 0  # data workers per process; 0: load in the training process
    seed: int = 0  # seeds the initial weights, the data order and dropout
    log_every: int = 20  # steps between log lines; 0: none
    width: int = 64  # hidden size; a multiple of 4
    layers: int = 2  # number of transformer layers
    dropout: float = 0.0  # fraction of activations dropped; 0: off
    max_length: int = 128  # maximum tokens; the rest is cut
    checkpoint_every: int = 1  # epochs or steps between checkpoints; 0: only at the end
    checkpoint_unit: Literal["epochs", "steps"] = "epochs"  # what checkpoint_every counts
    keep_checkpoints: int = 2  # number of recent checkpoints to keep; 0: all
    max_grad_norm: float = 1.0  # clip the gradient norm to this value; 0: off
    warmup_ratio: float = 0.05  # warm-up, as a fraction of all steps; 0: none
    output_dir: Path = Path("runs/latest")  # folder for metrics, weights and checkpoints
    limit_batches: int = 0  # for a trial run: batches per epoch and evaluation; 0: all
    resume: str = ""  # checkpoint or folder to resume; without a value: the newest


def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then half a cosine down to zero."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    done = min(1, (step - warmup) / max(1, total_steps - warmup))
    return peak * 0.5 * (1 + cos(pi * done))


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    parameters = model.parameters()
    return AdamW(parameters, config.learning_rate, weight_decay=config.weight_decay)


def compute_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """The loss of each token, shape (batch, length); 0 where the target is IGNORED."""
    losses = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none"
    )
    return losses.view_as(targets)


@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss per word, and precision, recall and F1 of entities, over the whole set.

    They are the same for any number of processes. gather_for_metrics drops the sentences that pad
    the last batch. Divide the sums after gathering: a mean of F1 over batches is not F1.
    """
    model.eval()
    loss_sum = words_seen = counts = 0
    for inputs, mask, targets in islice(loader, limit or None):
        logits = model(inputs, mask)
        losses = compute_loss(logits, targets).sum(dim=1)
        found = count_entities(logits.argmax(dim=-1), targets)
        values = (losses, count_tokens(targets), found)
        losses, words, found = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        words_seen += words.sum()
        counts += found.sum(dim=0)
    model.train()
    scores = entity_scores(counts)
    return {
        f"{name}_loss": float(loss_sum / words_seen),
        **{f"{name}_{score}": value for score, value in scores.items()},
    }


def main(config: Config) -> None:
    accelerator = Accelerator(
        # the data order depends only on the seed and the epoch
        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=config.seed),
    )
    check_environment(accelerator)
    set_seed(config.seed)  # every process starts with the same weights
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    optimizer = build_optimizer(model, config)
    model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader, test_loader
    )
    set_seed(config.seed, device_specific=True)  # each process gets its own dropout

    batches_per_epoch, total_steps = count_steps(train_loader, config)
    config.output_dir.mkdir(parents=True, exist_ok=True)
    log(describe(accelerator, model, config, total_steps))
    progress, train_loss = Progress(batches_per_epoch), RunningLoss(accelerator)
    peaks = [group["lr"] for group in optimizer.param_groups]  # before resume() overwrites them
    metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")
    learning_curves = LearningCurves(metrics_file.path, config.output_dir / "curves.png")
    states = {"train_loss": train_loss, "metrics_file": metrics_file}
    checkpoints = Checkpoints(accelerator, config, progress, states)
    checkpoints.resume()
    write_config(accelerator, config, config.output_dir)
    if accelerator.is_main_process:  # a target is an index into this list
        Path(config.output_dir).mkdir(parents=True, exist_ok=True)
        Path(config.output_dir, "tags.json").write_text(json.dumps(tag_names(config)))
    for part, words in zip(("training", "validation", "test"), count_cut(config), strict=True):
        if words and not progress.step:  # a resumed run already logged it
            log(f"{words} words of the {part} data are beyond --max-length and are left out")

    for epoch in range(progress.epoch, config.epochs):
        if progress.step >= total_steps:  # max_steps, or resumed a finished run
            break
        model.train()
        train_loader.set_epoch(epoch)  # a new order in each epoch
        batches = train_loader
        if progress.batch:  # resumed within an epoch
            batches = accelerator.skip_first_batches(train_loader, progress.batch)
        bar = progress_bar(batches, done=progress.batch, total=batches_per_epoch)
        start, start_step = time.perf_counter(), progress.step
        for inputs, mask, targets in bar:
            losses = compute_loss(model(inputs, mask), targets)
            train_loss.add(losses, targets)
            # each token counts the same; backward() averages over the processes
            tokens = accelerator.reduce(count_tokens(targets).sum(), "sum")
            accelerator.backward(losses.sum() * accelerator.num_processes / tokens)
            progress.batch += 1
            grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm or inf)
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = learning_rate_at(progress.step, total_steps, peak, config)
            optimizer.step()
            optimizer.zero_grad()
            progress.step += 1
            if config.log_every and progress.step % config.log_every == 0:
                values = {"loss": train_loss.read(), "lr": optimizer.param_groups[0]["lr"]}
                values["grad_norm"] = float(grad_norm)
                metrics_file.append(progress.step, values)
                values["s/step"] = (time.perf_counter() - start) / (progress.step - start_step)
                log(f"step {progress.step}/{total_steps} | {format_metrics(values)}")
                bar.set_postfix(loss=values["loss"])
            if progress.step >= total_steps:
                break  # saved below
            checkpoints.save_if_due("steps", progress.step)
        metrics = {"train_loss": train_loss.end_epoch()}
        metrics |= evaluate(accelerator, model, val_loader, "val", config.limit_batches)
        log(f"epoch {epoch + 1}/{config.epochs} | {format_metrics(metrics)}")
        metrics_file.append(progress.step, metrics)
        learning_curves.draw()
        if progress.batch >= batches_per_epoch:  # false if max_steps ended the epoch early
            progress.epoch, progress.batch = epoch + 1, 0
        checkpoints.save_if_due("epochs", progress.epoch)
    checkpoints.save()
    save_weights(accelerator, model, config.output_dir / "model.safetensors")
    metrics = evaluate(accelerator, model, test_loader, "test", config.limit_batches)
    log(f"done | {format_metrics(metrics)}")
    metrics_file.append(progress.step, metrics)
    learning_curves.draw()
    model, optimizer = accelerator.free_memory(model, optimizer)  # before DDP's process group ends
    accelerator.end_training()


if __name__ == "__main__":
    config = parse_flags(Config, __doc__)
    try:
        main(config)
    except KeyboardInterrupt:
        raise SystemExit(f"Interrupted. Saved: {newest_checkpoint(config.output_dir)}") from None
