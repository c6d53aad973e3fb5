"""Train an autoencoder on scikit-learn's handwritten digits.

    python train.py

--resume goes on from the newest checkpoint, --limit-batches 2 tries every line in seconds,
--help lists the fields of Config: each of them is a flag.

Yours to edit. `pytest` proves that it still trains, resumes and evaluates right.
"""

import math
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

import torch
import torch.nn.functional as F
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import set_seed
from torch import nn
from torch.optim import AdamW, Optimizer

from callbacks import BestModel, EarlyStopping, LearningCurves, MetricsFile, stop_on_nan
from checkpoint import Checkpoints, Progress, load_weights, remaining_batches, save_weights
from data import build_loaders
from environment import check_environment, count_updates, describe, write_line
from flags import parse_flags
from metrics import RunningLoss, format_metrics
from model import build_model
from pictures import draw_reconstructions


@dataclass(frozen=True)
class Config:
    epochs: int = 30  # passes over the training data
    batch_size: int = 32  # per process: two processes see twice as many samples an update
    learning_rate: float = 0.003  # the peak, where a schedule changes it
    weight_decay: float = 0.01  # of the weights, at each update
    max_steps: int = 0  # updates at most, 0: as many as the epochs have
    num_workers: int = 0  # data loading processes, for each training process
    seed: int = 0  # of the initial weights, the order of the data, and dropout
    log_every: int = 20  # updates; a loss read more often keeps the device waiting
    checkpoint_every: int = 1  # in checkpoint_unit; the end of a run is always saved
    checkpoint_unit: Literal["epochs", "updates", "minutes"] = "epochs"  # of checkpoint_every
    keep_checkpoints: int = 2  # the newest so many
    latent: int = 16  # numbers in the code of an image
    clipping_max_norm: float = 1.0  # of all gradients together, once an update
    early_stopping_patience: int = 5  # evaluations without improvement
    early_stopping_min_delta: float = 0.0  # a smaller change is no improvement
    schedule_warmup: float = 0.05  # share of all updates that lead up to the peak
    output_dir: Path = Path("runs/latest")  # checkpoints, metrics and the final weights
    resume: str = ""  # "newest", or a checkpoint
    limit_batches: int = 0  # per epoch and evaluation, 0: all


def learning_rate(update: int, total_updates: int, config: Config) -> float:
    """A linear warm-up to the peak, then half a cosine down to zero."""
    warmup = int(config.schedule_warmup * total_updates)
    if update < warmup:
        return config.learning_rate * (update + 1) / warmup
    done = (update - warmup) / (total_updates - warmup)
    return config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    """The optimizer of the weights, before it is prepared."""
    parameters = model.parameters()
    return AdamW(parameters, config.learning_rate, weight_decay=config.weight_decay)


@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Mean squared error of a pixel, and peak signal-to-noise ratio (PSNR) of an image in decibels.

    Means over all images of the set, the same for any number of processes: gather_for_metrics cuts
    off those that only pad the last batches. It needs one value for each: average after it.
    """
    model.eval()
    loss_sum = psnr_sum = seen = 0
    for images, _ in islice(loader, limit or None):
        losses = F.mse_loss(model(images), images, reduction="none").mean(dim=(1, 2, 3))
        losses = accelerator.gather_for_metrics(losses)
        loss_sum += losses.sum()
        psnr_sum -= 10 * losses.log10().sum()  # the peak of a pixel is 1
        seen += len(losses)
    model.train()
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_psnr": float(psnr_sum) / seen,
    }


def main(config: Config) -> None:
    accelerator = Accelerator(
        # the shuffle follows from the seed and the epoch, so that a resumed run repeats it
        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=config.seed),
    )
    check_environment(accelerator)
    log = accelerator.on_main_process(write_line)

    # data, model, optimizer
    set_seed(config.seed)  # all processes start from the same weights
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    optimizer = build_optimizer(model, config)
    model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader, test_loader
    )
    parameters = list(model.parameters())  # a walk through the model takes a while: once is enough
    set_seed(config.seed, device_specific=True)  # from here on each draws its own dropout

    # prepare() divides the batches among the processes: count updates after it
    batches_per_epoch, total_updates = count_updates(train_loader, config)
    log(describe(accelerator, model, config, total_updates))

    # progress, callbacks, resume
    progress, train_loss = Progress(), RunningLoss(accelerator)
    checkpoints = Checkpoints(accelerator, config, progress, train_loss=train_loss)
    shown = torch.stack([val_loader.dataset[index][0] for index in range(16)])
    best_model = BestModel(config.output_dir / "best.safetensors")
    checkpoints.states["best_model"] = best_model
    early_stopping = EarlyStopping(config.early_stopping_patience, config.early_stopping_min_delta)
    checkpoints.states["early_stopping"] = early_stopping
    metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")
    checkpoints.states["metrics_file"] = metrics_file
    learning_curves = LearningCurves(metrics_file.path, config.output_dir / "curves.png")
    checkpoints.resume()

    # train
    for epoch in range(progress.epoch, config.epochs):
        if early_stopping.stop:
            log(f"early stop: {early_stopping.stale} epochs without a better val_loss")
            break
        if progress.update == total_updates:
            break
        for batch in remaining_batches(accelerator, train_loader, progress, batches_per_epoch):
            # forward
            images, _ = batch
            loss = F.mse_loss(model(images), images)
            train_loss.add(loss, len(images))
            # backward
            accelerator.backward(loss)
            progress.batch += 1
            # update
            accelerator.clip_grad_norm_(parameters, config.clipping_max_norm)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(progress.update, total_updates, config)
            optimizer.step()
            for parameter in parameters:
                parameter.grad = None
            progress.update += 1
            if progress.update % config.log_every == 0:
                loss, rate = train_loss.read(), optimizer.param_groups[0]["lr"]
                log(f"update {progress.update}/{total_updates} | loss {loss:.4f} | lr {rate:.2e}")
                stop_on_nan(loss, progress)
            if progress.update == total_updates:
                break
            checkpoints.after_update()

        # evaluate, report, save
        loss = train_loss.end_epoch()
        stop_on_nan(loss, progress)
        metrics = {"train_loss": loss}
        metrics |= evaluate(model, val_loader, accelerator, "val", config.limit_batches)
        path = config.output_dir / f"reconstructions_{progress.update:08}.png"
        draw_reconstructions(accelerator, model, shown, path)
        if best_model.improved(-metrics["val_loss"]):
            save_weights(accelerator, model, best_model.path)
        early_stopping.step(-metrics["val_loss"])
        log(f"epoch {epoch + 1}/{config.epochs} | {format_metrics(metrics)}")
        if accelerator.is_main_process:
            metrics_file(progress, metrics)
            learning_curves()
        progress.end_epoch(batches_per_epoch)
        checkpoints.after_epoch()
    checkpoints.after_training()

    # test, save the final weights
    if best_model.found:
        load_weights(accelerator, model, best_model.path)
    metrics = evaluate(model, test_loader, accelerator, "test", config.limit_batches)
    save_weights(accelerator, model, config.output_dir / "model.safetensors")
    log(f"done | {format_metrics(metrics)}")
    if accelerator.is_main_process:
        metrics_file(progress, metrics)
        learning_curves()

    # leave in this order: the process group ends only when no model holds it any more
    model, optimizer = accelerator.free_memory(model, optimizer)
    accelerator.end_training()


if __name__ == "__main__":
    main(parse_flags(Config, __doc__))
