#: file when loop=complete
"""Train {{ task.subject }}.

`python train.py --help` lists the settings. Run `pytest` after you edit the loop.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import set_seed
from data import build_loaders
from environment import check_environment, describe, write_config
from weights import save_weights
from flags import parse_flags
from metrics import RunningLoss, format_metrics
from model import build_model
from progress import Progress, count_steps, log, progress_bar
from torch import nn
from torch.optim import Optimizer


@dataclass(frozen=True)
class Config:
    #: slot config
    #: region output_dir
    output_dir: Path = Path("runs/latest")  # folder for metrics, weights and checkpoints
    #: end output_dir
    limit_batches: int = 0  # for a trial run: batches per epoch and evaluation; 0: all
    #: slot fields


#: slot functions


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    #: region parameters
    parameters = model.parameters()
    #: end parameters
    ...  #: slot optimizer


#: slot loss_function


#: slot evaluate_function


def main(config: Config) -> None:
    #: slot before_accelerator
    accelerator = Accelerator(
        #: slot accelerator
        #: region handlers if handlers is filled
        kwargs_handlers=[
            #: slot handlers
        ],
        #: end handlers
        # the data order depends only on the seed and the epoch
        dataloader_config=DataLoaderConfiguration(
            use_seedable_sampler=True, data_seed=config.seed
            #: slot loader_settings
        ),
    )
    check_environment(accelerator)
    #: slot after_environment
    set_seed(config.seed)  # every process starts with the same weights
    #: region build
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    #: slot after_model
    optimizer = build_optimizer(model, config)
    #: slot before_prepare
    model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader, test_loader
    )
    #: slot after_prepare
    #: end build
    #: region own_dropout
    set_seed(config.seed, device_specific=True)  # each process gets its own dropout
    #: end own_dropout

    batches_per_epoch, total_steps = count_steps(train_loader, config)
    config.output_dir.mkdir(parents=True, exist_ok=True)
    log(describe(accelerator, model, config, total_steps))
    progress, train_loss = Progress(batches_per_epoch), RunningLoss(accelerator)
    #: slot before_training
    #: slot setup
    #: region checkpoints if checkpoints is filled
    states = {
        "train_loss": train_loss
        #: slot states
    }
    checkpoints = Checkpoints(accelerator, config, progress, states)
    checkpoints.resume()
    #: end checkpoints
    #: slot checkpoints
    write_config(accelerator, config, config.output_dir)
    #: slot start_of_training

    #: region training
    for epoch in range(progress.epoch, config.epochs):
        #: slot start_of_epoch
        if progress.step >= total_steps:  # max_steps, or resumed a finished run
            break
        model.train()
        #: slot training_mode
        train_loader.set_epoch(epoch)  # a new order in each epoch
        #: slot before_epoch
        batches = train_loader
        #: slot skip_batches
        bar = progress_bar(batches, done=progress.batch, total=batches_per_epoch)
        start, start_step = time.perf_counter(), progress.step
        #: region batches
        for {{ task.batch }} in bar:
            #: region passes
            #: region forward
            ...  #: slot forward
            #: slot after_forward
            #: end forward
            #: region backward
            accelerator.backward(loss)
            #: end backward
            #: end passes
            progress.batch += 1
            #: region optimize
            #: slot after_backward
            #: region rates if rates is filled
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                ...  #: slot rates
            #: end rates
            #: slot before_step
            #: region step
            optimizer.step()
            optimizer.zero_grad()
            #: end step
            #: slot after_step
            #: region count
            progress.step += 1
            #: end count
            #: slot after_count
            if config.log_every and progress.step % config.log_every == 0:
                values = {"loss": train_loss.read(), "lr": optimizer.param_groups[0]["lr"]}
                #: slot before_log
                #: slot log_values
                #: slot report_step
                values["s/step"] = (time.perf_counter() - start) / (progress.step - start_step)
                log(f"step {progress.step}/{total_steps} | {format_metrics(values)}")
                bar.set_postfix(loss=values["loss"])
                #: slot after_log
            #: slot end_of_step
            #: slot whole_step
            #: region leave_epoch if end_of_step is filled
            #: slot leave_epoch
            #: end leave_epoch
            if progress.step >= total_steps:
                break  # saved below
            #: slot save_in_epoch
            #: slot stop_in_epoch
            #: end optimize
        #: end batches
        metrics = {"train_loss": train_loss.end_epoch()}
        #: slot checked_epoch
        #: slot epoch_metrics
        #: region epoch_evaluation
        #: region evaluate
        #: slot start_of_evaluation
        metrics |= evaluate(accelerator, model, val_loader, "val", config.limit_batches)
        #: slot more_metrics
        #: slot after_evaluation
        #: end evaluate
        #: end epoch_evaluation
        log(f"epoch {epoch + 1}/{config.epochs} | {format_metrics(metrics)}")
        #: slot report
        #: slot observers
        if progress.batch >= batches_per_epoch:  # false if max_steps ended the epoch early
            progress.epoch, progress.batch = epoch + 1, 0
        #: slot end_of_epoch
        #: slot save_after_epoch
        #: slot stop_after_epoch
    #: end training
    #: slot save_after_training
    #: region test
    #: slot before_test
    save_weights(accelerator, model, config.output_dir / "model.safetensors")
    #: slot after_save
    metrics = evaluate(accelerator, model, test_loader, "test", config.limit_batches)
    #: slot after_test
    #: end test
    log(f"done | {format_metrics(metrics)}")
    #: slot report
    #: slot observers
    #: slot end_of_run
    #: slot before_end
    model, optimizer = accelerator.free_memory(model, optimizer)  # before DDP's process group ends
    accelerator.end_training()


#: slot functions_at_end
if __name__ == "__main__":
    config = parse_flags(Config, __doc__)
    #: region start
    main(config)
    #: end start
