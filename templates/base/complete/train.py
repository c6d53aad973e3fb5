#: file when loop=complete
"""Train {{ task.subject }}.

`python train.py --help` lists the settings. Run `pytest` after you edit the loop.
"""

import time
from itertools import islice

from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import broadcast_object_list, set_seed
from config import Config, check_environment, describe, parse_config, write_config
from data import build_loaders
from metrics import Progress, RunningLoss, count_steps, format_metrics, log, progress_bar
from model import build_model
from torch import nn
from torch.optim import Optimizer
from weights import save_weights


#: slot functions


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    #: region parameters
    parameters = model.parameters()
    #: end parameters
    ...  #: slot optimizer


#: slot loss_function


#: slot evaluate_function


def main(config: Config) -> dict[str, float]:
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
    config = broadcast_object_list([config])[0]  # the same output_dir on all processes
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
    #: region need_samples
    if not len(val_loader) or not len(test_loader):
        raise SystemExit("The validation and the test data need at least one sample each.")
    #: end need_samples
    batches_per_epoch, total_steps = count_steps(train_loader, config)
    config.output_dir.mkdir(parents=True, exist_ok=True)
    log(describe(accelerator, model, config, total_steps))
    #: slot before_progress
    progress = Progress(
        batches_per_epoch
        #: slot progress
    )
    train_loss = RunningLoss(accelerator)
    #: slot before_training
    #: slot setup
    #: region checkpoints if checkpoints is filled
    save_every = config.checkpoint_every  # 0: only at the end
    states = {
        "train_loss": train_loss
        #: slot states
    }
    checkpoints = Checkpoints(accelerator, config, progress, states)
    checkpoints.resume()
    #: end checkpoints
    #: slot checkpoints
    #: region write_config
    write_config(accelerator, config, config.output_dir)
    #: end write_config
    #: slot start_of_training

    #: region training
    for epoch in range(progress.epoch, config.epochs):
        #: slot start_of_epoch
        if progress.step >= total_steps and not progress.batch:  # max_steps ended the run
            break
        model.train()
        #: slot training_mode
        train_loader.set_epoch(epoch)  # a new order in each epoch
        #: slot before_epoch
        batches = train_loader
        #: slot skip_batches
        remaining = islice(batches, batches_per_epoch - progress.batch)
        bar = progress_bar(remaining, done=progress.batch, total=batches_per_epoch)
        start, start_step = time.perf_counter(), progress.step
        #: region batches
        for {{ task.batch }} in bar:
            #: region finished
            if progress.step >= total_steps:  # max_steps ends the epoch early
                #: slot leave_epoch_early
                break
            #: end finished
            #: region passes
            #: region forward
            ...  #: slot forward
            #: slot after_forward
            #: end forward
            #: region backward
            accelerator.backward(loss)
            #: end backward
            #: end passes
            #: slot after_passes
            #: region optimize
            #: slot after_backward
            #: slot before_step
            #: region step
            optimizer.step()
            optimizer.zero_grad()
            #: end step
            #: slot after_step
            #: region count_batch
            progress.batch += 1
            #: end count_batch
            #: slot before_count
            #: region count
            progress.step += 1
            #: end count
            #: slot schedule_step
            #: slot after_count
            if config.log_every and progress.step % config.log_every == 0:
                values = {"loss": train_loss.read(), "lr": optimizer.param_groups[0]["lr"]}
                #: slot before_log
                #: slot log_values
                #: slot report_step
                seconds = (time.perf_counter() - start) / (progress.step - start_step)
                line = f"step {progress.step}/{total_steps} | {format_metrics(values)}"
                log(f"{line} | s/step {seconds:.5g}")
                bar.set_postfix(loss=values["loss"])
                #: slot after_log
            #: slot end_of_step
            #: slot whole_step
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
        done = epoch + progress.batch / batches_per_epoch  # max_steps may end an epoch early
        log(f"epoch {done:.5g}/{config.epochs} | {format_metrics(metrics)}")
        #: slot report
        #: slot observers
        progress.epoch, progress.batch = epoch + 1, 0
        #: slot end_of_epoch
        #: slot save_after_epoch
        #: slot stop_after_epoch
    #: end training
    #: slot after_training
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
    model, optimizer = accelerator.free_memory(model, optimizer)  # else DDP may hang at the end
    accelerator.end_training()
    return metrics


#: slot functions_at_end
if __name__ == "__main__":
    config = parse_config(__doc__)
    #: region start
    main(config)
    #: end start
