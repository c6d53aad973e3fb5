"""Train a generative adversarial network on scikit-learn's handwritten digits.

`python train.py --help` lists the settings. Run `pytest` after you edit the loop.
"""

import time
from dataclasses import dataclass
from itertools import islice
from math import cos, pi
from pathlib import Path
from typing import Literal

import torch
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import set_seed
from torch import nn
from torch.optim import AdamW, Optimizer

from callbacks import LearningCurves
from checkpoint import Checkpoints, newest_checkpoint
from data import build_loaders
from distance import Moments, frechet_distance
from environment import check_environment, describe, write_config
from flags import parse_flags
from losses import compute_discriminator_loss, compute_generator_loss
from metrics import MetricsFile, RunningLoss, format_metrics
from model import build_discriminator, build_model, fixed_noise
from pictures import draw_samples
from progress import Progress, count_steps, log, progress_bar
from weights import save_weights


@dataclass(frozen=True)
class Config:
    epochs: int = 32  # passes over the training data
    batch_size: int = 32  # samples per batch on each process
    learning_rate: float = 0.002  # peak learning rate
    weight_decay: float = 0.01  # weight decay; 0: off
    max_steps: int = 0  # stop after this many steps; 0: after the last epoch
    num_workers: int = 0  # data workers per process; 0: load in the training process
    seed: int = 0  # seeds the initial weights, the data order and dropout
    log_every: int = 20  # steps between log lines; 0: none
    latent: int = 32  # length of the noise vector of an image
    checkpoint_every: int = 1  # epochs or steps between checkpoints; 0: only at the end
    checkpoint_unit: Literal["epochs", "steps"] = "epochs"  # what checkpoint_every counts
    keep_checkpoints: int = 2  # number of recent checkpoints to keep; 0: all
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


@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Fréchet distance between real and generated images, the same for any number of processes.

    There is a generated image for each real one. Its noise depends on the position of the real
    image in the set. gather_for_metrics drops the images that pad the last batch.
    """
    model.eval()
    latent = accelerator.unwrap_model(model).latent
    real, generated = Moments(), Moments()
    for images, _ in islice(loader, limit or None):
        first = real.count + accelerator.process_index * len(images)
        fakes = model(fixed_noise(first, len(images), latent).to(images.device))
        images, fakes = accelerator.gather_for_metrics((images, fakes))
        real.add(images)
        generated.add(fakes)
    model.train()
    return {f"{name}_distance": frechet_distance(real, generated)}


def main(config: Config) -> None:
    accelerator = Accelerator(
        # the data order depends only on the seed and the epoch
        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=config.seed),
    )
    check_environment(accelerator)
    set_seed(config.seed)  # every process starts with the same weights
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    discriminator = build_discriminator(config)
    optimizer = build_optimizer(model, config)
    discriminator_optimizer = build_optimizer(discriminator, config)
    model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader, test_loader
    )
    discriminator, discriminator_optimizer = accelerator.prepare(
        discriminator, discriminator_optimizer
    )
    set_seed(config.seed, device_specific=True)  # each process gets its own dropout

    batches_per_epoch, total_steps = count_steps(train_loader, config)
    config.output_dir.mkdir(parents=True, exist_ok=True)
    log(describe(accelerator, model, config, total_steps))
    progress, train_loss = Progress(batches_per_epoch), RunningLoss(accelerator)
    train_discriminator_loss = RunningLoss(accelerator)
    discriminator_peaks = [group["lr"] for group in discriminator_optimizer.param_groups]
    peaks = [group["lr"] for group in optimizer.param_groups]  # before resume() overwrites them
    metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")
    learning_curves = LearningCurves(metrics_file.path, config.output_dir / "curves.png")
    states = {
        "train_loss": train_loss,
        "train_discriminator_loss": train_discriminator_loss,
        "metrics_file": metrics_file,
    }
    checkpoints = Checkpoints(accelerator, config, progress, states)
    checkpoints.resume()
    write_config(accelerator, config, config.output_dir)

    for epoch in range(progress.epoch, config.epochs):
        if progress.step >= total_steps:  # max_steps, or resumed a finished run
            break
        model.train()
        discriminator.train()
        train_loader.set_epoch(epoch)  # a new order in each epoch
        batches = train_loader
        if progress.batch:  # resumed within an epoch
            batches = accelerator.skip_first_batches(train_loader, progress.batch)
        bar = progress_bar(batches, done=progress.batch, total=batches_per_epoch)
        start, start_step = time.perf_counter(), progress.step
        for images, _ in bar:
            fakes = model(torch.randn(len(images), config.latent, device=images.device))
            # train the discriminator; the generated images are constants here
            discriminator.requires_grad_(True)
            discriminator_loss = compute_discriminator_loss(discriminator, images, fakes.detach())
            train_discriminator_loss.add(discriminator_loss, len(images))
            accelerator.backward(discriminator_loss)
            for group, peak in zip(
                discriminator_optimizer.param_groups, discriminator_peaks, strict=True
            ):
                group["lr"] = learning_rate_at(progress.step, total_steps, peak, config)
            discriminator_optimizer.step()
            discriminator_optimizer.zero_grad()
            # train the generator; the discriminator is constant here
            discriminator.requires_grad_(False)
            loss = compute_generator_loss(discriminator, fakes)
            train_loss.add(loss, len(images))
            accelerator.backward(loss)
            progress.batch += 1
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = learning_rate_at(progress.step, total_steps, peak, config)
            optimizer.step()
            optimizer.zero_grad()
            progress.step += 1
            if config.log_every and progress.step % config.log_every == 0:
                values = {"loss": train_loss.read(), "lr": optimizer.param_groups[0]["lr"]}
                metrics_file.append(progress.step, values)
                values["s/step"] = (time.perf_counter() - start) / (progress.step - start_step)
                log(f"step {progress.step}/{total_steps} | {format_metrics(values)}")
                bar.set_postfix(loss=values["loss"])
            if progress.step >= total_steps:
                break  # saved below
            checkpoints.save_if_due("steps", progress.step)
        metrics = {"train_loss": train_loss.end_epoch()}
        metrics["train_discriminator_loss"] = train_discriminator_loss.end_epoch()
        metrics |= evaluate(accelerator, model, val_loader, "val", config.limit_batches)
        draw_samples(accelerator, model, config.output_dir / f"samples_{progress.step:08d}.png")
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
    del discriminator, discriminator_optimizer
    model, optimizer = accelerator.free_memory(model, optimizer)  # before DDP's process group ends
    accelerator.end_training()


if __name__ == "__main__":
    config = parse_flags(Config, __doc__)
    try:
        main(config)
    except KeyboardInterrupt:
        raise SystemExit(f"Interrupted. Saved: {newest_checkpoint(config.output_dir)}") from None
