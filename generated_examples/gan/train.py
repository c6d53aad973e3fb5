"""Train a generative adversarial network on scikit-learn's handwritten digits.

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
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import set_seed
from torch import nn
from torch.optim import AdamW, Optimizer

from callbacks import BestModel, LearningCurves, MetricsFile, stop_on_nan
from checkpoint import Checkpoints, Progress, load_weights, remaining_batches, save_weights
from data import build_loaders
from distance import Moments, frechet_distance
from environment import check_environment, count_updates, describe, write_line
from flags import parse_flags
from losses import loss_of_discriminator, loss_of_generator
from metrics import RunningLoss, format_metrics
from model import build_discriminator, build_model, fixed_noise
from pictures import draw_samples


@dataclass(frozen=True)
class Config:
    epochs: int = 32  # passes over the training data
    batch_size: int = 32  # per process: two processes see twice as many samples an update
    learning_rate: float = 0.002  # the peak, where a schedule changes it
    weight_decay: float = 0.01  # of the weights, at each update
    max_steps: int = 0  # updates at most, 0: as many as the epochs have
    num_workers: int = 0  # data loading processes, for each training process
    seed: int = 0  # of the initial weights, the order of the data, and dropout
    log_every: int = 20  # updates; a loss read more often keeps the device waiting
    checkpoint_every: int = 1  # in checkpoint_unit; the end of a run is always saved
    checkpoint_unit: Literal["epochs", "updates", "minutes"] = "epochs"  # of checkpoint_every
    keep_checkpoints: int = 2  # the newest so many
    latent: int = 32  # random numbers that an image is drawn from
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
    """Fréchet distance between real and generated images, the same for any number of processes.

    An image is generated for each real one, from noise that follows from its index in the set.
    gather_for_metrics cuts off those that only pad the last batches.
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
        # the shuffle follows from the seed and the epoch, so that a resumed run repeats it
        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=config.seed),
    )
    check_environment(accelerator)
    log = accelerator.on_main_process(write_line)

    # data, model, optimizer
    set_seed(config.seed)  # all processes start from the same weights
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
    parameters = list(model.parameters())  # a walk through the model takes a while: once is enough
    set_seed(config.seed, device_specific=True)  # from here on each draws its own dropout

    # prepare() divides the batches among the processes: count updates after it
    batches_per_epoch, total_updates = count_updates(train_loader, config)
    log(describe(accelerator, model, config, total_updates))

    # progress, callbacks, resume
    progress, train_loss = Progress(), RunningLoss(accelerator)
    checkpoints = Checkpoints(accelerator, config, progress, train_loss=train_loss)
    discriminator_loss = RunningLoss(accelerator)
    checkpoints.states["discriminator_loss"] = discriminator_loss
    best_model = BestModel(config.output_dir / "best.safetensors")
    checkpoints.states["best_model"] = best_model
    metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")
    checkpoints.states["metrics_file"] = metrics_file
    learning_curves = LearningCurves(metrics_file.path, config.output_dir / "curves.png")
    checkpoints.resume()

    # train
    for epoch in range(progress.epoch, config.epochs):
        if progress.update == total_updates:
            break
        for batch in remaining_batches(accelerator, train_loader, progress, batches_per_epoch):
            # forward
            images, _ = batch
            fakes = model(torch.randn(len(images), config.latent, device=images.device))
            # the discriminator's update, to which the generated images are constants
            discriminator.requires_grad_(True)
            loss = loss_of_discriminator(discriminator, images, fakes.detach())
            discriminator_loss.add(loss, len(images))
            accelerator.backward(loss)
            for group in discriminator_optimizer.param_groups:
                group["lr"] = learning_rate(progress.update, total_updates, config)
            discriminator_optimizer.step()
            discriminator.zero_grad()
            # the generator's, to which the weights of the discriminator are constants
            discriminator.requires_grad_(False)
            loss = loss_of_generator(discriminator, fakes)
            train_loss.add(loss, len(images))
            # backward
            accelerator.backward(loss)
            progress.batch += 1
            # update
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
        metrics["train_discriminator_loss"] = discriminator_loss.end_epoch()
        metrics |= evaluate(model, val_loader, accelerator, "val", config.limit_batches)
        draw_samples(accelerator, model, config.output_dir / f"samples_{progress.update:08}.png")
        if best_model.improved(-metrics["val_distance"]):
            save_weights(accelerator, model, best_model.path)
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
    del discriminator, discriminator_optimizer
    model, optimizer = accelerator.free_memory(model, optimizer)
    accelerator.end_training()


if __name__ == "__main__":
    main(parse_flags(Config, __doc__))
