"""Train an encoder that finds paraphrases on made-up sentences.

`python train.py --help` lists the settings. Run `pytest` after you edit the loop.
"""

import sys
import time
from itertools import islice
from math import cos, pi

import torch
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import broadcast_object_list, set_seed
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from callbacks import LearningCurves
from checkpoint import Checkpoints
from config import Config, check_environment, describe, find_checkpoints, parse_config, write_config
from contrast import Gather, contrast, embed, find_rivals, rank_positives
from data import build_loaders, count_cut
from metrics import (
    MetricsFile,
    Progress,
    RunningLoss,
    count_steps,
    format_metrics,
    log,
    progress_bar,
    retrieval_scores,
)
from model import build_model
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


def compute_loss(
    vectors: Tensor, numbers: Tensor, others: Tensor, other_numbers: Tensor, temperature: float
) -> Tensor:
    """The loss of each row: its anchor has to find its positive among the texts of all rows.

    `vectors` (batch, texts, width) and `numbers` (batch, texts) are those of the rows; `others` and
    `other_numbers` are those of all rows to compare with, which include them.
    """
    own = (vectors[:, 0] * vectors[:, 1]).sum(dim=1, keepdim=True)
    similarities = vectors[:, 0] @ others[:, 1:].flatten(0, 1).T
    rivals = find_rivals(numbers, other_numbers).flatten(1)
    return contrast(own, similarities.masked_fill(~rivals, -torch.inf), temperature)


@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss, recall and mean reciprocal rank: each anchor searches all texts of the set.

    They are the same for any number of processes and any batch size. gather_for_metrics drops the
    rows that pad the last batch. Compare after gathering: within a batch, it is easier.
    """
    model.eval()
    batches = []
    for tokens, mask, numbers in islice(loader, limit or None):
        values = (embed(model, tokens, mask).float(), numbers)
        batches.append(accelerator.gather_for_metrics(values))
    model.train()
    vectors, numbers = map(torch.cat, zip(*batches, strict=True))
    temperature = accelerator.unwrap_model(model).temperature
    losses, ranks = rank_positives(vectors, numbers, temperature)
    return {
        f"{name}_loss": float(losses.mean()),
        **{f"{name}_{score}": value for score, value in retrieval_scores(ranks).items()},
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
    if count := count_cut(config):
        accelerator.print(
            f"{count} texts of the first 1,000 training rows fill --max-length: the rest is cut"
        )

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
        for tokens, mask, numbers in bar:
            if progress.step >= total_steps:  # max_steps ends the epoch early
                checkpoints.save()  # a resumed run may finish it
                break
            vectors = embed(model, tokens, mask)
            # anchors are compared with the texts of all processes
            others = Gather.apply(vectors, accelerator)
            other_numbers = accelerator.gather(numbers)
            loss = compute_loss(vectors, numbers, others, other_numbers, config.temperature).mean()
            train_loss.add(loss, len(numbers))
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
