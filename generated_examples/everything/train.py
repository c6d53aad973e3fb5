"""Train an image classifier on scikit-learn's handwritten digits.

    accelerate launch --config_file accelerate.yaml train.py

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
from accelerate import Accelerator, DataLoaderConfiguration, DistributedDataParallelKwargs
from accelerate.utils import DDPCommunicationHookType, find_batch_size, set_seed
from torch import nn
from torch.optim import AdamW, Optimizer

from callbacks import (
    BestModel,
    EarlyStopping,
    Ema,
    LearningCurves,
    MetricsFile,
    PredictionsFile,
    Profiler,
    StopOnSpike,
    Throughput,
    stop_on_nan,
)
from checkpoint import Checkpoints, Progress, load_weights, remaining_batches, save_weights
from data import build_loaders, build_more_loaders
from environment import check_compression, check_environment, count_updates, describe, write_line
from flags import parse_flags
from hooks import Hooks, Run
from metrics import (
    ClassMetrics,
    EpochOutputs,
    HardBatches,
    RunningLoss,
    count_errors,
    format_metrics,
)
from micro_batches import MicroBatches
from mixing import blend, mix
from model import build_model
from parameter_groups import group_parameters


@dataclass(frozen=True)
class Config:
    epochs: int = 20  # passes over the training data
    batch_size: int = 32  # per process: two processes see twice as many samples an update
    learning_rate: float = 0.001  # the peak, where a schedule changes it
    weight_decay: float = 0.01  # of the weights, at each update
    max_steps: int = 0  # updates at most, 0: as many as the epochs have
    num_workers: int = 0  # data loading processes, for each training process
    seed: int = 0  # of the initial weights, the order of the data, and dropout
    log_every: int = 20  # updates; a loss read more often keeps the device waiting
    checkpoint_every: int = 1  # in checkpoint_unit; the end of a run is always saved
    checkpoint_unit: Literal["epochs", "updates", "minutes"] = "epochs"  # of checkpoint_every
    keep_checkpoints: int = 2  # the newest so many
    clipping_max_norm: float = 1.0  # of all gradients together, once an update
    cross_validation_folds: int = 5  # parts of the data, each held out once
    cross_validation_fold: int = 0  # the part that is held out, counted from 0
    augmentation_pixels: int = 1  # that images are moved by at most, in each direction
    custom_metric_limit: float = 1.0  # a batch with a higher loss is hard
    data_loading_pin_memory: bool = True  # a GPU copies faster from page-locked memory
    data_loading_prefetch_factor: int = 2  # batches that each data worker reads ahead
    data_loading_persistent_workers: bool = False  # data workers stay from one epoch to the next
    early_stopping_patience: int = 5  # evaluations without improvement
    early_stopping_min_delta: float = 0.0  # a smaller change is no improvement
    ema_decay: float = 0.99  # share of the average that stays at each update
    eval_batch_size: int = 64  # per process, for validation and test
    evaluation_by_updates_every: int = 100  # updates; the last one is always evaluated
    gradient_compression: Literal["no", "fp16", "bf16"] = "fp16"  # of what processes exchange
    label_smoothing: float = 0.1  # share of a label that goes to all classes, in training
    mixed_precision: Literal["no", "bf16", "fp16", "fp8"] = "bf16"  # of the model's computations
    mixing_alpha: float = 0.2  # shares are drawn from Beta(alpha, alpha)
    mixing_probability: float = 1.0  # share of the batches that are mixed
    profiler_wait: int = 5  # updates before the profiler starts
    profiler_warmup: int = 2  # updates that it runs before it records
    profiler_active: int = 3  # updates that are recorded
    schedule_warmup: float = 0.05  # share of all updates that lead up to the peak
    stop_on_spike_factor: float = 3.0  # times the running average of the loss: more ends the run
    tracker_project: str = "everything"  # the tracker's name for all runs of this kind
    output_dir: Path = Path("runs/latest")  # checkpoints, metrics and the final weights
    resume: str = ""  # "newest", or a checkpoint
    limit_batches: int = 0  # per epoch and evaluation, 0: all


epoch_outputs = EpochOutputs()  # evaluate() feeds it, main() reads it
predictions_file = PredictionsFile()  # evaluate() feeds it, main() writes it


def learning_rate(update: int, total_updates: int, config: Config) -> float:
    """A linear warm-up to the peak, then half a cosine down to zero."""
    warmup = int(config.schedule_warmup * total_updates)
    if update < warmup:
        return config.learning_rate * (update + 1) / warmup
    done = (update - warmup) / (total_updates - warmup)
    return config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    """The optimizer of the weights, before it is prepared."""
    parameters = group_parameters(model)
    return AdamW(parameters, config.learning_rate, weight_decay=config.weight_decay)


@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Mean loss and accuracy over the whole set, the same for any number of processes.

    gather_for_metrics cuts off the samples that only pad the last batches. It needs one value for
    each sample: average after it, never before.
    """
    model.eval()
    loss_sum = correct = seen = 0
    epoch_outputs.clear()
    predictions_file.clear()
    class_metrics = ClassMetrics()
    for images, labels in islice(loader, limit or None):
        logits = model(images)
        losses = F.cross_entropy(logits, labels, reduction="none")
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        correct += (predictions == labels).sum()
        seen += len(labels)
        epoch_outputs.add(accelerator, predictions, labels)
        predictions_file.add(labels, predictions)
        class_metrics.add(predictions, labels, classes=logits.shape[-1])
    model.train()
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_accuracy": float(correct) / seen,
        **class_metrics.compute(name),
    }


def main(config: Config) -> None:
    accelerator = Accelerator(
        cpu=True,
        mixed_precision=config.mixed_precision,
        log_with="tensorboard",
        project_dir=config.output_dir,
        kwargs_handlers=[
            DistributedDataParallelKwargs(
                comm_hook=DDPCommunicationHookType(config.gradient_compression)
            ),
        ],
        # the shuffle follows from the seed and the epoch, so that a resumed run repeats it
        dataloader_config=DataLoaderConfiguration(
            use_seedable_sampler=True, data_seed=config.seed, non_blocking=True
        ),
    )
    check_environment(accelerator)
    # measures each shape of a convolution when it first comes
    torch.backends.cudnn.benchmark = True
    check_compression(accelerator, config.gradient_compression)
    torch.set_float32_matmul_precision("high")  # TF32 where the GPU has it
    settings = {name: str(value) for name, value in vars(config).items()}
    accelerator.init_trackers(config.tracker_project, config=settings)
    log = accelerator.on_main_process(write_line)

    # data, model, optimizer
    set_seed(config.seed)  # all processes start from the same weights
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    model = model.to(memory_format=torch.channels_last)  # the images follow the filters
    optimizer = build_optimizer(model, config)
    more_loaders = build_more_loaders(config, val_loader)
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
    best_model = BestModel(config.output_dir / "best.safetensors")
    checkpoints.states["best_model"] = best_model
    hard_batches = HardBatches(accelerator, config.custom_metric_limit)
    checkpoints.states["hard_batches"] = hard_batches
    early_stopping = EarlyStopping(config.early_stopping_patience, config.early_stopping_min_delta)
    checkpoints.states["early_stopping"] = early_stopping
    ema = Ema(accelerator.unwrap_model(model), config.ema_decay)
    checkpoints.states["ema"] = ema
    more_loaders = {name: accelerator.prepare(loader) for name, loader in more_loaders.items()}
    micro_batches = MicroBatches(accelerator, model, train_loss)
    checkpoints.states["micro_batches"] = micro_batches
    metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")
    checkpoints.states["metrics_file"] = metrics_file
    learning_curves = LearningCurves(metrics_file.path, config.output_dir / "curves.png")
    profiler = Profiler(accelerator, config)
    hooks = Hooks(Run(accelerator, config, model, optimizer, progress))
    checkpoints.states["hooks"] = hooks
    stop_on_spike = StopOnSpike(config.stop_on_spike_factor)
    checkpoints.states["stop_on_spike"] = stop_on_spike
    throughput = Throughput(accelerator, train_loss, progress, total_updates)
    checkpoints.resume()
    if progress.update == 0:
        metrics = evaluate(model, val_loader, accelerator, "val", config.limit_batches)
        log(f"errors by class: {count_errors(*epoch_outputs.gather())}")
        for name, loader in more_loaders.items():
            metrics |= evaluate(model, loader, accelerator, name, config.limit_batches)
        log(f"before training | {format_metrics(metrics)}")
        accelerator.log(metrics, step=progress.update)
        if accelerator.is_main_process:
            metrics_file(progress, metrics)
            learning_curves()
    profiler.start()
    hooks.call("run_start")

    # train
    for epoch in range(progress.epoch, config.epochs):
        if early_stopping.stop:
            log(f"early stop: {early_stopping.stale} evaluations without a better val_accuracy")
            break
        if hooks.stopped:
            break
        hooks.call("epoch_start")
        throughput.start_epoch()
        if progress.update == total_updates:
            break
        for whole in remaining_batches(accelerator, train_loader, progress, batches_per_epoch):
            batch_size = find_batch_size(whole)
            for parts in micro_batches.attempts(whole):
                loss = None  # lets go of what an attempt that failed has computed
                with micro_batches.computing():
                    for batch in parts:
                        with micro_batches.exchange(last=batch is parts[-1]):
                            # forward
                            images, labels = batch
                            images, others, share = mix(
                                images, labels, config.mixing_alpha, config.mixing_probability
                            )
                            logits = model(images)
                            targets = blend(labels, others, share, classes=logits.shape[-1])
                            loss = F.cross_entropy(
                                logits, targets, label_smoothing=config.label_smoothing
                            )
                            train_loss.add(loss, len(labels))
                            hard_batches.add(loss)
                            # backward: every sample counts the same, in parts of any size
                            accelerator.backward(loss * (find_batch_size(batch) / batch_size))
            progress.batch += 1
            # update
            accelerator.clip_grad_norm_(parameters, config.clipping_max_norm)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(progress.update, total_updates, config)
            checkpoints.begin_update()
            hooks.call("step_start")
            optimizer.step()
            for parameter in parameters:
                parameter.grad = None
            ema.update()
            # in fp16, an update whose gradients overflow is skipped, and must not move the schedule
            progress.update += not accelerator.optimizer_step_was_skipped
            profiler.step()
            hooks.call("step_end")
            if progress.update % config.log_every == 0:
                loss, rate = train_loss.read(), optimizer.param_groups[0]["lr"]
                log(f"update {progress.update}/{total_updates} | loss {loss:.4f} | lr {rate:.2e}")
                log(f"hard batches in this step {hard_batches.read_step():.4f}")
                if hooks.agree():
                    break
                stop_on_nan(loss, progress)
                stop_on_spike.step(loss, progress)
                log(throughput.read())
            every = config.evaluation_by_updates_every
            if progress.update % every == 0 or progress.update == total_updates:
                metrics: dict[str, float] = {}
                with ema.applied():
                    hooks.call("evaluation_start")
                    metrics |= evaluate(model, val_loader, accelerator, "val", config.limit_batches)
                    log(f"errors by class: {count_errors(*epoch_outputs.gather())}")
                    for name, loader in more_loaders.items():
                        metrics |= evaluate(model, loader, accelerator, name, config.limit_batches)
                    if best_model.improved(metrics["val_accuracy"]):
                        save_weights(accelerator, model, best_model.path)
                    early_stopping.step(metrics["val_accuracy"])
                    hooks.call("evaluation_end", metrics)
                log(f"evaluated update {progress.update} | {format_metrics(metrics)}")
                accelerator.log(metrics, step=progress.update)
                if accelerator.is_main_process:
                    metrics_file(progress, metrics)
                    learning_curves()
            checkpoints.end_update()
            if early_stopping.stop:
                break
            if progress.update == total_updates:
                break
            checkpoints.after_update()

        # evaluate, report, save
        loss = train_loss.end_epoch()
        stop_on_nan(loss, progress)
        metrics = {"train_loss": loss}
        metrics["train_hard_batches"] = hard_batches.end_epoch()
        log(f"epoch {epoch + 1}/{config.epochs} | {format_metrics(metrics)}")
        accelerator.log(metrics, step=progress.update)
        if accelerator.is_main_process:
            metrics_file(progress, metrics)
            learning_curves()
        progress.end_epoch(batches_per_epoch)
        hooks.call("epoch_end")
        hooks.agree()
        checkpoints.after_epoch()
    checkpoints.after_training()

    # test, save the final weights
    with ema.applied():
        if best_model.found:
            load_weights(accelerator, model, best_model.path)
        metrics = evaluate(model, test_loader, accelerator, "test", config.limit_batches)
        if accelerator.is_main_process:
            predictions_file.write(config.output_dir / "predictions.csv")
        save_weights(accelerator, model, config.output_dir / "model.safetensors")
    log(f"done | {format_metrics(metrics)}")
    accelerator.log(metrics, step=progress.update)
    if accelerator.is_main_process:
        metrics_file(progress, metrics)
        learning_curves()
    profiler.stop()
    hooks.call("run_end", metrics)

    # leave in this order: the process group ends only when no model holds it any more
    model, optimizer = accelerator.free_memory(model, optimizer)
    accelerator.end_training()


if __name__ == "__main__":
    main(parse_flags(Config, __doc__))
