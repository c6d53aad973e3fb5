"""Train {{ task.subject }}.

    {{ launch.script }}

--resume goes on from the newest checkpoint, --limit-batches 2 tries every line in seconds,
--help lists the fields of Config: each of them is a flag.

Yours to edit. `pytest` proves that it still trains, resumes and evaluates right.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import set_seed
from checkpoint import Checkpoints, Progress, remaining_batches, save_weights
from data import build_loaders
from environment import check_environment, count_updates, describe, write_line
from flags import parse_flags
from metrics import RunningLoss, format_metrics
from model import build_model
from torch import nn
from torch.optim import Optimizer


@dataclass(frozen=True)
class Config:
    #: slot config
    output_dir: Path = Path("runs/latest")  # checkpoints, metrics and the final weights
    resume: str = ""  # "newest", or a checkpoint
    limit_batches: int = 0  # per epoch and evaluation, 0: all


#: slot functions


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    """The optimizer of the weights, before it is prepared."""
    #: region parameters
    parameters = model.parameters()
    #: end parameters
    ...  #: slot optimizer


#: slot evaluate_function


def main(config: Config) -> None:
    accelerator = Accelerator(
        #: slot accelerator
        #: region handlers when handlers
        kwargs_handlers=[
            #: slot handlers
        ],
        #: end handlers
        # the shuffle follows from the seed and the epoch, so that a resumed run repeats it
        dataloader_config=DataLoaderConfiguration(
            use_seedable_sampler=True, data_seed=config.seed
            #: slot loader_settings
        ),
    )
    check_environment(accelerator)
    #: slot after_environment
    log = accelerator.on_main_process(write_line)

    # data, model, optimizer
    set_seed(config.seed)  # all processes start from the same weights
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
    parameters = list(model.parameters())  # a walk through the model takes a while: once is enough
    #: region own_dropout
    set_seed(config.seed, device_specific=True)  # from here on each draws its own dropout
    #: end own_dropout

    # prepare() divides the batches among the processes: count updates after it
    batches_per_epoch, total_updates = count_updates(train_loader, config)
    log(describe(accelerator, model, config, total_updates))

    # progress, callbacks, resume
    progress, train_loss = Progress(), RunningLoss(accelerator)
    checkpoints = Checkpoints(accelerator, config, progress, train_loss=train_loss)
    #: slot setup
    checkpoints.resume()
    #: slot start_of_training

    # train
    for epoch in range(progress.epoch, config.epochs):
        #: slot start_of_epoch
        if progress.update == total_updates:
            break
        #: region batches
        for batch in remaining_batches(accelerator, train_loader, progress, batches_per_epoch):
            #: region passes
            #: region forward
            # forward
            ...  #: slot forward
            #: slot after_forward
            #: end forward
            #: region backward
            # backward
            accelerator.backward(loss)
            #: end backward
            #: end passes
            progress.batch += 1
            #: region update
            # update
            #: slot before_update
            #: region rates when rates
            for group in optimizer.param_groups:
                ...  #: slot rates
                #: slot scaled_rates
            #: end rates
            #: slot before_step
            #: region step
            optimizer.step()
            for parameter in parameters:
                parameter.grad = None
            #: end step
            #: slot after_update
            #: region count
            progress.update += 1
            #: end count
            #: slot after_count
            if progress.update % config.log_every == 0:
                loss, rate = train_loss.read(), optimizer.param_groups[0]["lr"]
                log(f"update {progress.update}/{total_updates} | loss {loss:.4f} | lr {rate:.2e}")
                #: slot after_log
            #: slot end_of_update
            #: slot whole_update
            #: region leave_epoch when end_of_update
            #: slot leave_epoch
            #: end leave_epoch
            if progress.update == total_updates:
                break
            checkpoints.after_update()
            #: end update
        #: end batches

        # evaluate, report, save
        loss = train_loss.end_epoch()
        #: slot after_epoch
        metrics = {"train_loss": loss}
        #: slot epoch_metrics
        #: region epoch_evaluation
        #: region evaluate
        #: slot start_of_evaluation
        metrics |= evaluate(model, val_loader, accelerator, "val", config.limit_batches)
        #: slot more_metrics
        #: slot after_evaluation
        #: end evaluate
        #: end epoch_evaluation
        log(f"epoch {epoch + 1}/{config.epochs} | {format_metrics(metrics)}")
        #: slot report
        #: region report when observers
        if accelerator.is_main_process:
            ...  #: slot observers
        #: end report
        progress.end_epoch(batches_per_epoch)
        #: slot end_of_epoch
        checkpoints.after_epoch()
    checkpoints.after_training()

    # test, save the final weights
    #: region test
    #: slot before_test
    metrics = evaluate(model, test_loader, accelerator, "test", config.limit_batches)
    #: slot after_test
    save_weights(accelerator, model, config.output_dir / "model.safetensors")
    #: end test
    log(f"done | {format_metrics(metrics)}")
    #: slot report
    #: region report when observers
    if accelerator.is_main_process:
        ...  #: slot observers
    #: end report
    #: slot end_of_run

    # leave in this order: the process group ends only when no model holds it any more
    #: slot before_end
    model, optimizer = accelerator.free_memory(model, optimizer)
    accelerator.end_training()


#: slot functions_at_end
if __name__ == "__main__":
    #: region start
    main(parse_flags(Config, __doc__))
    #: end start
