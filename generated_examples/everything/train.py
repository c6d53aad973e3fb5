"""Train an image classifier on scikit-learn's handwritten digits.

`python train.py --help` lists the settings. Run `pytest` after you edit the loop.
"""

import sys
import time
from itertools import islice
from math import cos, pi

import torch
import torch.nn.functional as F
from accelerate import Accelerator, DataLoaderConfiguration, DistributedDataParallelKwargs
from accelerate.tracking import get_available_trackers
from accelerate.utils import (
    DDPCommunicationHookType,
    broadcast_object_list,
    find_batch_size,
    set_seed,
)
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from callbacks import (
    BestModel,
    EarlyStopping,
    Ema,
    LearningCurves,
    PredictionsFile,
    Profiler,
    StopOnSpike,
    Throughput,
    stop_on_nan,
)
from checkpoint import Checkpoints
from config import (
    Config,
    check_compression,
    check_environment,
    describe,
    find_checkpoints,
    parse_config,
    write_config,
)
from confusion import ConfusionPlot
from data import build_loaders, build_more_loaders
from hooks import Hooks, Run
from metrics import (
    ClassMetrics,
    EpochOutputs,
    HardBatches,
    MetricsFile,
    Progress,
    RunningLoss,
    count_errors,
    count_steps,
    format_metrics,
    log,
    progress_bar,
)
from micro_batches import MicroBatches
from mixing import blend, mix
from model import build_model
from parameter_groups import group_parameters
from preemption import StopSignals
from save_on_error import LastStep
from teacher import distill, load_teacher
from weights import save_weights
from workarounds import skip_search_for_lomo, skip_signature_of_zero_grad

confusion_plot = ConfusionPlot()  # evaluate() adds to it, main() draws it
epoch_outputs = EpochOutputs()  # evaluate() adds to it, main() reads it
predictions_file = PredictionsFile()  # filled by evaluate(), written by main()


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
    parameters = group_parameters(model)
    return AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)


def compute_loss(logits: Tensor, labels: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """The loss of each sample, shape (batch,). Evaluation does not smooth the labels."""
    return F.cross_entropy(logits, labels, reduction="none", label_smoothing=label_smoothing)


@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss and accuracy of all samples. gather_for_metrics drops the padding."""
    model.eval()
    loss_sum = correct = seen = 0
    confusion_plot.clear()
    epoch_outputs.clear()
    predictions_file.clear()
    class_metrics = ClassMetrics()
    for images, labels in islice(loader, limit or None):
        logits = model(images)
        losses = compute_loss(logits, labels)
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        correct += (predictions == labels).sum()
        seen += len(labels)
        confusion_plot.add(labels, predictions)
        epoch_outputs.add(accelerator, predictions, labels)
        predictions_file.add(labels, predictions)
        class_metrics.add(predictions, labels, classes=logits.shape[-1])
    model.train()
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_accuracy": float(correct) / seen,
        **class_metrics.compute(name),
    }


def main(config: Config) -> dict[str, float]:
    skip_search_for_lomo()
    skip_signature_of_zero_grad()
    if "tensorboard" not in map(str, get_available_trackers()):
        raise SystemExit("The tracker needs a package: pip install tensorboard")
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
        # the data order depends only on the seed and the epoch
        dataloader_config=DataLoaderConfiguration(
            use_seedable_sampler=True, data_seed=config.seed, non_blocking=True
        ),
    )
    check_environment(accelerator)
    config = broadcast_object_list([config])[0]  # the same output_dir on all processes
    torch.backends.cudnn.benchmark = True  # measures each shape of a convolution once
    check_compression(accelerator, config.gradient_compression)
    torch.set_float32_matmul_precision("high")  # TF32 if the GPU supports it
    settings = {name: str(value) for name, value in vars(config).items()}
    accelerator.init_trackers(config.tracker_project, config=settings)
    set_seed(config.seed)  # every process starts with the same weights
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    model = model.to(memory_format=torch.channels_last)  # the images adapt to the filters
    optimizer = build_optimizer(model, config)
    more_loaders = build_more_loaders(config, val_loader)
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
    best_model = BestModel(accelerator, config.output_dir / "best.safetensors")
    hard_batches = HardBatches(accelerator, config.custom_metric_limit)
    teacher = load_teacher(accelerator, config)
    early_stopping = EarlyStopping(config.patience, config.min_delta)
    ema = Ema(accelerator.unwrap_model(model), config.ema_decay)
    more_loaders = {name: accelerator.prepare(loader) for name, loader in more_loaders.items()}
    micro_batches = MicroBatches(accelerator, model, train_loss)
    metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")
    learning_curves = LearningCurves(metrics_file.path, config.output_dir / "curves.png")
    stop_signals = StopSignals(accelerator, config.log_every)
    profiler = Profiler(accelerator, config)
    # not prepared: a prepared schedule would step once for each process
    schedule = build_schedule(optimizer, total_steps, config)
    hooks = Hooks(Run(accelerator, config, model, optimizer, progress))
    stop_on_spike = StopOnSpike(config.stop_on_spike_factor)
    throughput = Throughput(accelerator, train_loss, progress, total_steps)
    save_every = config.checkpoint_every  # 0: only at the end
    states = {
        "train_loss": train_loss,
        "best_model": best_model,
        "hard_batches": hard_batches,
        "early_stopping": early_stopping,
        "ema": ema,
        "micro_batches": micro_batches,
        "metrics_file": metrics_file,
        "schedule": schedule,
        "hooks": hooks,
        "stop_on_spike": stop_on_spike,
    }
    checkpoints = Checkpoints(accelerator, config, progress, states)
    checkpoints.resume()
    last_step = LastStep(checkpoints, model)
    if not config.resume:  # a resumed run writes it at the end
        write_config(accelerator, config, config.output_dir)
    if progress.step == 0:
        metrics = evaluate(accelerator, model, val_loader, "val", config.limit_batches)
        confusion_plot.draw(config.output_dir / "confusion.png")
        log(f"errors by class: {count_errors(*epoch_outputs.gather())}")
        for name, loader in more_loaders.items():
            metrics |= evaluate(accelerator, model, loader, name, config.limit_batches)
        log(f"before training | {format_metrics(metrics)}")
        accelerator.log(metrics, step=progress.step)
        metrics_file.append(progress.step, metrics)
        learning_curves.draw()
    profiler.start()
    hooks.call("run_start")

    with last_step.saved_on_error():
        for epoch in range(progress.epoch, config.epochs):
            if early_stopping.should_stop and not progress.batch:
                break
            if hooks.stopped:
                break
            throughput.start_epoch()
            if progress.step >= total_steps and not progress.batch:  # max_steps ended the run
                break
            model.train()
            train_loader.set_epoch(epoch)  # a new order in each epoch
            train_loader.dataset.set_epoch(epoch)  # new random changes in each epoch
            hooks.call("epoch_start")
            batches = train_loader
            if progress.batch:  # resumed within an epoch
                batches = accelerator.skip_first_batches(train_loader, progress.batch)
            remaining = islice(batches, batches_per_epoch - progress.batch)
            bar = progress_bar(remaining, done=progress.batch, total=batches_per_epoch)
            start, start_step = time.perf_counter(), progress.step
            for whole in bar:
                if progress.step >= total_steps or early_stopping.should_stop:
                    checkpoints.save()  # a resumed run may finish it
                    break
                batch_size = find_batch_size(whole)
                for parts in micro_batches.attempts(whole):
                    loss = None  # frees the tensors of a failed attempt
                    with micro_batches.noting_failure():
                        for batch in parts:
                            with micro_batches.exchange(last=batch is parts[-1]):
                                images, labels = batch
                                images, others, share = mix(
                                    images, labels, config.mixing_alpha, config.mixing_probability
                                )
                                logits = model(images)
                                targets = blend(labels, others, share, classes=logits.shape[-1])
                                loss = compute_loss(
                                    logits, targets, label_smoothing=config.label_smoothing
                                ).mean()
                                train_loss.add(loss, len(labels))
                                hard_batches.add(loss)
                                if teacher is not None:
                                    with torch.no_grad(), accelerator.autocast():
                                        soft_targets = teacher(images)
                                    loss = distill(loss, logits, soft_targets.float(), config)
                                # every sample has the same weight, in parts of any size
                                accelerator.backward(loss * (find_batch_size(batch) / batch_size))
                progress.batch += 1
                if config.max_grad_norm:
                    grad_norm = accelerator.clip_grad_norm_(
                        model.parameters(), config.max_grad_norm
                    )
                hooks.call("step_start")
                last_step.forget()
                optimizer.step()
                optimizer.zero_grad()
                ema.update()
                if accelerator.optimizer_step_was_skipped:  # its gradients overflowed in fp16
                    continue
                progress.step += 1
                schedule.step()
                profiler.step()
                hooks.call("step_end")
                if config.log_every and progress.step % config.log_every == 0:
                    values = {"loss": train_loss.read(), "lr": optimizer.param_groups[0]["lr"]}
                    stop_on_nan(values["loss"], progress.step)
                    if config.max_grad_norm:
                        values["grad_norm"] = float(grad_norm)
                    values["hard_batches"] = hard_batches.read_step()
                    metrics_file.append(progress.step, values)
                    accelerator.log(values, step=progress.step)
                    seconds = (time.perf_counter() - start) / (progress.step - start_step)
                    line = f"step {progress.step}/{total_steps} | {format_metrics(values)}"
                    log(f"{line} | s/step {seconds:.5g}")
                    bar.set_postfix(loss=values["loss"])
                    if hooks.agree():
                        checkpoints.save()  # a resumed run may finish it
                        break
                    stop_on_spike.check(values["loss"], progress.step)
                    log(throughput.read())
                if progress.step % config.evaluate_every == 0 or progress.step >= total_steps:
                    metrics: dict[str, float] = {}
                    with ema.applied():
                        hooks.call("evaluation_start")
                        metrics |= evaluate(
                            accelerator, model, val_loader, "val", config.limit_batches
                        )
                        confusion_plot.draw(config.output_dir / "confusion.png")
                        log(f"errors by class: {count_errors(*epoch_outputs.gather())}")
                        for name, loader in more_loaders.items():
                            metrics |= evaluate(
                                accelerator, model, loader, name, config.limit_batches
                            )
                        best_model.update(metrics["val_accuracy"], model)
                        early_stopping.update(metrics["val_accuracy"])
                        hooks.call("evaluation_end", metrics)
                        confusion_plot.send(
                            accelerator, config.output_dir / "confusion.png", progress.step
                        )
                    log(f"evaluated step {progress.step} | {format_metrics(metrics)}")
                    accelerator.log(metrics, step=progress.step)
                    metrics_file.append(progress.step, metrics)
                    learning_curves.draw()
                last_step.remember()
                if (
                    config.checkpoint_unit == "steps"
                    and save_every
                    and progress.step % save_every == 0
                ):
                    checkpoints.save()
                stop_signals.after_step(checkpoints)
            metrics = {"train_loss": train_loss.end_epoch()}
            stop_on_nan(metrics["train_loss"], progress.step)
            metrics["train_hard_batches"] = hard_batches.end_epoch()
            done = epoch + progress.batch / batches_per_epoch  # max_steps may end an epoch early
            log(f"epoch {done:.5g}/{config.epochs} | {format_metrics(metrics)}")
            accelerator.log(metrics, step=progress.step)
            metrics_file.append(progress.step, metrics)
            learning_curves.draw()
            progress.epoch, progress.batch = epoch + 1, 0
            hooks.call("epoch_end")
            hooks.agree()
            if (
                config.checkpoint_unit == "epochs"
                and save_every
                and progress.epoch % save_every == 0
            ):
                checkpoints.save()
            last_step.remember()
            stop_signals.stop_if_received(checkpoints)
    if early_stopping.should_stop:
        log(f"early stop: {early_stopping.stale} evaluations, no better val_accuracy")
    checkpoints.save()
    with ema.applied():
        best_model.load(model)
        save_weights(accelerator, model, config.output_dir / "model.safetensors")
        write_config(accelerator, config, config.output_dir)  # the settings of these weights
        metrics = evaluate(accelerator, model, test_loader, "test", config.limit_batches)
        if accelerator.is_main_process:
            predictions_file.write(config.output_dir / "predictions.csv")
    log(f"done | {format_metrics(metrics)}")
    accelerator.log(metrics, step=progress.step)
    metrics_file.append(progress.step, metrics)
    learning_curves.draw()
    profiler.stop()
    hooks.call("run_end", metrics)
    micro_batches.model = None  # so that free_memory() frees it
    hooks.run.model = None  # so that free_memory() frees it
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
