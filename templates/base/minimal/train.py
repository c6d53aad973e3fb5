#: file when loop=minimal
"""Train {{ task.subject }}.

`{{ launch.script }} --epochs 5` trains for 5 epochs.
"""

import argparse
from dataclasses import dataclass, fields

from accelerate import Accelerator
from accelerate.utils import set_seed
from data import build_loaders
from model import build_model
from torch import nn
from torch.optim import Optimizer


@dataclass(frozen=True)
class Config:
    #: slot config
    output_dir: str = "runs/latest"  # for model.safetensors


#: slot functions


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    #: region parameters
    parameters = model.parameters()
    #: end parameters
    ...  #: slot optimizer


#: slot loss_function


#: slot evaluate_function


def main(config: Config) -> dict[str, float]:
    accelerator = Accelerator(
        #: slot accelerator
        #: region handlers if handlers is filled
        kwargs_handlers=[
            #: slot handlers
        ],
        #: end handlers
    )
    set_seed(config.seed)
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
        raise SystemExit("The training data does not fill one batch: use a smaller --batch-size.")

    #: slot start_of_training
    #: slot constants
    for epoch in range(config.epochs):
        model.train()
        for {{ task.batch }} in train_loader:
            #: region passes
            ...  #: slot forward
            #: region backward
            accelerator.backward(loss)
            #: end backward
            #: end passes
            optimizer.step()
            optimizer.zero_grad()
        metrics = evaluate(accelerator, model, val_loader, "val")
        accelerator.print(f"epoch {epoch + 1}/{config.epochs} | {metrics}")

    accelerator.save_model(model, config.output_dir)
    metrics = evaluate(accelerator, model, test_loader, "test")
    accelerator.print(f"done | {metrics}")
    #: slot end_of_run
    accelerator.end_training()
    return metrics


#: region unused if never is filled
#: slot setup
#: slot states
#: slot epoch_metrics
#: slot after_evaluation
#: slot before_evaluation
#: slot before_end
#: region count
#: end count
#: end unused
#: slot functions_at_end
if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for field in fields(Config):
        flag = f"--{field.name.replace('_', '-')}"
        parser.add_argument(flag, type=field.type, default=field.default)
    #: region start
    main(Config(**vars(parser.parse_args())))
    #: end start
#: end file

#: replace add_loss
