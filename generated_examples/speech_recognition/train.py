"""Train a model that transcribes words spelled in tones.

`python train.py --help` lists the settings. Run `pytest` after you edit the loop.
"""

import json
import sys
import time
from itertools import islice
from math import cos, pi

import torch
import torch.nn.functional as F
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import broadcast_object_list, set_seed
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from callbacks import LearningCurves
from checkpoint import Checkpoints
from config import Config, check_environment, describe, find_checkpoints, parse_config, write_config
from data import build_loaders, list_letters
from metrics import (
    BLANK,
    MetricsFile,
    Progress,
    RunningLoss,
    count_errors,
    count_steps,
    error_rates,
    format_metrics,
    log,
    progress_bar,
    read_letters,
)
from model import build_model
from transcripts import write_transcripts
from weights import save_weights


def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> LambdaLR:
    """A linear warm-up, then half a cosine down to zero."""
    warmup = int(config.warmup_ratio * total_steps)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        done = (step - warmup) / max(1, total_steps - warmup)
        return 0.5 * (1 + cos(pi * done))

    return LambdaLR(optimizer, factor)


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    parameters = model.parameters()
    return AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)


def compute_loss(log_probs: Tensor, targets: Tensor, sizes: Tensor) -> Tensor:
    """The loss of each sound per letter of its text, shape (batch,).

    CTC: Graves and others 2006, https://doi.org/10.1145/1143844.1143891
    """
    frames = torch.full_like(sizes, log_probs.shape[1])  # padding is blank, and adds nothing
    losses = F.ctc_loss(log_probs.transpose(0, 1), targets, frames, sizes, BLANK, "none")
    return losses / sizes.clamp(min=1)


@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss of all sounds, and word and character error rates of the whole set.

    They are the same for any number of processes. gather_for_metrics drops the sounds that pad the
    last batch. Divide the summed edits after gathering: a mean of batch rates is not the rate.
    """
    model.eval()
    loss_sum = counts = seen = 0
    for inputs, lengths, targets, sizes in islice(loader, limit or None):
        log_probs = model(inputs, lengths)
        losses = compute_loss(log_probs, targets, sizes)
        errors = count_errors(read_letters(log_probs), targets, sizes)
        losses, errors = accelerator.gather_for_metrics((losses, errors))
        loss_sum += losses.sum()
        counts += errors.sum(dim=0)
        seen += len(losses)
    model.train()
    return {
        f"{name}_loss": float(loss_sum) / seen,
        **{f"{name}_{rate}": value for rate, value in error_rates(counts).items()},
    }


def main(config: Config) -> dict[str, float]:
    accelerator = Accelerator(
        # the data order depends only on the seed and the epoch
        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=config.seed),
    )
    check_environment(accelerator)
    config = broadcast_object_list([config])[0]  # the same output_dir on all processes
    set_seed(config.seed)  # every process starts with the same weights
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    optimizer = build_optimizer(model, config)
    model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader, test_loader
    )
    set_seed(config.seed, device_specific=True)  # each process gets its own dropout
    if not len(val_loader) or not len(test_loader):
        raise SystemExit("The validation and the test data need at least one sample each.")
    batches_per_epoch, total_steps = count_steps(train_loader, config)
    config.output_dir.mkdir(parents=True, exist_ok=True)
    log(describe(accelerator, model, config, total_steps))
    samples = tuple(len(loader.dataset) for loader in (train_loader, val_loader, test_loader))
    progress = Progress(batches_per_epoch, samples)
    train_loss = RunningLoss(accelerator)
    shown = [val_loader.dataset[row] for row in range(min(8, len(val_loader.dataset)))]
    metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")
    learning_curves = LearningCurves(metrics_file.path, config.output_dir / "curves.png")
    # not prepared: a prepared schedule would step once for each process
    schedule = build_schedule(optimizer, total_steps, config)
    save_every = config.checkpoint_every  # 0: only at the end
    states = {"train_loss": train_loss, "metrics_file": metrics_file, "schedule": schedule}
    checkpoints = Checkpoints(accelerator, config, progress, states)
    checkpoints.resume()
    if not config.resume:  # a resumed run writes it at the end
        write_config(accelerator, config, config.output_dir)
    if accelerator.is_main_process:  # a letter id is an index into this list
        (config.output_dir / "letters.json").write_text(json.dumps(list_letters(config)))

    for epoch in range(progress.epoch, config.epochs):
        if progress.step >= total_steps and not progress.batch:  # max_steps ended the run
            break
        model.train()
        train_loader.set_epoch(epoch)  # a new order in each epoch
        batches = train_loader
        if progress.batch:  # resumed within an epoch
            batches = accelerator.skip_first_batches(train_loader, progress.batch)
        remaining = islice(batches, batches_per_epoch - progress.batch)
        bar = progress_bar(remaining, done=progress.batch, total=batches_per_epoch)
        start, start_step = time.perf_counter(), progress.step
        for inputs, lengths, targets, sizes in bar:
            if progress.step >= total_steps:  # max_steps ends the epoch early
                checkpoints.save()  # a resumed run may finish it
                break
            loss = compute_loss(model(inputs, lengths), targets, sizes).mean()
            train_loss.add(loss, len(sizes))
            accelerator.backward(loss)
            if config.max_grad_norm:
                grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)
            optimizer.step()
            optimizer.zero_grad()
            progress.batch += 1
            progress.step += 1
            schedule.step()
            if config.log_every and progress.step % config.log_every == 0:
                values = {"loss": train_loss.read(), "lr": optimizer.param_groups[0]["lr"]}
                if config.max_grad_norm:
                    values["grad_norm"] = float(grad_norm)
                metrics_file.append(progress.step, values)
                seconds = (time.perf_counter() - start) / (progress.step - start_step)
                line = f"step {progress.step}/{total_steps} | {format_metrics(values)}"
                log(f"{line} | s/step {seconds:.5g}")
                bar.set_postfix(loss=values["loss"])
            if config.checkpoint_unit == "steps" and save_every and progress.step % save_every == 0:
                checkpoints.save()
        metrics = {"train_loss": train_loss.end_epoch()}
        metrics |= evaluate(accelerator, model, val_loader, "val", config.limit_batches)
        path = config.output_dir / f"texts_{progress.step:08d}.txt"
        write_transcripts(accelerator, model, shown, list_letters(config), path)
        done = epoch + progress.batch / batches_per_epoch  # max_steps may end an epoch early
        log(f"epoch {done:.5g}/{config.epochs} | {format_metrics(metrics)}")
        metrics_file.append(progress.step, metrics)
        learning_curves.draw()
        progress.epoch, progress.batch = epoch + 1, 0
        if config.checkpoint_unit == "epochs" and save_every and progress.epoch % save_every == 0:
            checkpoints.save()
    checkpoints.save()
    save_weights(accelerator, model, config.output_dir / "model.safetensors")
    write_config(accelerator, config, config.output_dir)  # the settings of these weights
    metrics = evaluate(accelerator, model, test_loader, "test", config.limit_batches)
    log(f"done | {format_metrics(metrics)}")
    metrics_file.append(progress.step, metrics)
    learning_curves.draw()
    model, optimizer = accelerator.free_memory(model, optimizer)  # else DDP may hang at the end
    accelerator.end_training()
    return metrics


if __name__ == "__main__":
    config = parse_config(__doc__)
    try:
        main(config)
    except KeyboardInterrupt:
        saved = find_checkpoints(config.output_dir)
        log(f"Interrupted. Saved: {saved[-1] if saved else 'nothing'}")
        sys.exit(130)
