#: file when loop=minimal
"""Train {{ task.subject }}.

`{{ launch.script }} --help` lists the settings. The weights are saved at the end.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import tyro
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list, set_seed
from data import build_loaders
from model import build_model
from torch import nn
from torch.optim import Optimizer


@dataclass(frozen=True)
class Config:
    #: slot config
    output_dir: Path = Path("runs", f"{datetime.now():%Y-%m-%d_%H-%M-%S}")  # folder of the weights


#: slot functions


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    #: region parameters
    parameters = model.parameters()
    #: end parameters
    ...  #: slot optimizer


#: slot loss_function


#: slot evaluate_function


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.5g}" for name, value in metrics.items())


def main(config: Config) -> dict[str, float]:
    #: slot before_accelerator
    accelerator = Accelerator(
        #: slot accelerator
        #: region handlers if handlers is filled
        kwargs_handlers=[
            #: slot handlers
        ],
        #: end handlers
    )
    config = broadcast_object_list([config])[0]  # the same output_dir on all processes
    if any(config.output_dir.glob("*")):
        raise SystemExit(f"{config.output_dir} is not empty: choose another --output-dir.")
    set_seed(config.seed)  # every process starts with the same weights
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    #: slot after_model
    optimizer = build_optimizer(model, config)
    #: slot before_prepare
    model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader, test_loader
    )
    #: slot after_prepare
    set_seed(config.seed, device_specific=True)  # each process gets its own dropout
    if not len(train_loader):
        raise SystemExit("Each process needs one full batch: use a smaller --batch-size.")
    if not len(val_loader) or not len(test_loader):
        raise SystemExit("The validation and the test data need at least one sample each.")

    #: slot before_training
    #: slot start_of_training
    for epoch in range(config.epochs):
        model.train()
        #: slot before_epoch
        #: region start_sum
        train_loss = 0.0
        #: end start_sum
        for {{ task.batch }} in train_loader:
            #: region passes
            ...  #: slot forward
            #: region backward
            accelerator.backward(loss)
            #: end backward
            #: end passes
            optimizer.step()
            optimizer.zero_grad()
            #: slot after_step
            #: region sum
            train_loss += loss.detach()
            #: end sum
        #: region mean
        # all batches have the same size, so this is the mean over all samples
        train_loss = accelerator.reduce(train_loss, "mean") / len(train_loader)
        #: end mean
        metrics = {"train_loss": float(train_loss)}
        metrics |= evaluate(accelerator, model, val_loader, "val")
        accelerator.print(f"epoch {epoch + 1}/{config.epochs} | {format_metrics(metrics)}")

    accelerator.save_model(model, config.output_dir)
    metrics = evaluate(accelerator, model, test_loader, "test")
    accelerator.print(f"saved to {config.output_dir} | {format_metrics(metrics)}")
    #: slot end_of_run
    model, optimizer = accelerator.free_memory(model, optimizer)  # else DDP may hang at the end
    accelerator.end_training()
    return metrics


#: region unused if never is filled
#: slot setup
#: slot states
#: slot epoch_metrics
#: slot after_evaluation
#: slot before_evaluation
#: slot before_end
#: slot folder
#: region count
#: end count
#: end unused
#: slot functions_at_end
if __name__ == "__main__":
    #: region start
    main(tyro.cli(Config, description=__doc__))
    #: end start
#: end file

#: replace add_loss

#: replace start_sum with tokens
loss_sum = tokens_seen = 0

#: replace sum with tokens
loss_sum += losses.detach().sum()
tokens_seen += count_tokens(targets).sum()

#: replace mean with tokens
loss_sum, tokens_seen = accelerator.reduce((loss_sum, tokens_seen), "sum")
train_loss = loss_sum / tokens_seen

#: slot folder
config.output_dir.mkdir(parents=True, exist_ok=True)
