"""Train an image classifier on scikit-learn's handwritten digits.

`python train.py --help` lists the settings. The weights are saved at the end.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import torch
import torch.nn.functional as F
import tyro
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list, set_seed
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from data import build_loaders
from model import build_model


@dataclass(frozen=True)
class Config:
    epochs: int = 20  # passes over the training data
    batch_size: int = 32  # samples per batch on each process
    learning_rate: float = 0.001  # step size of the optimizer
    weight_decay: float = 0.01  # weight decay; 0: off
    num_workers: int = 0  # data workers per process; 0: load in the training process
    seed: int = 0  # seeds the initial weights, the data order and dropout
    output_dir: Path = Path("runs", f"{datetime.now():%Y-%m-%d_%H-%M-%S}")  # folder of the weights


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    parameters = model.parameters()
    return AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)


def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,)."""
    return F.cross_entropy(logits, labels, reduction="none")


@torch.no_grad()
def evaluate(accelerator, model, loader, name) -> dict[str, float]:
    """Mean loss and accuracy of all samples. gather_for_metrics drops the padding."""
    model.eval()
    loss_sum = correct = seen = 0
    for images, labels in loader:
        logits = model(images)
        losses = compute_loss(logits, labels)
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        correct += (predictions == labels).sum()
        seen += len(labels)
    return {f"{name}_loss": float(loss_sum) / seen, f"{name}_accuracy": float(correct) / seen}


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.5g}" for name, value in metrics.items())


def main(config: Config) -> dict[str, float]:
    accelerator = Accelerator()
    config = broadcast_object_list([config])[0]  # the same output_dir on all processes
    if any(config.output_dir.glob("*")):
        raise SystemExit(f"{config.output_dir} is not empty: choose another --output-dir.")
    set_seed(config.seed)  # every process starts with the same weights
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    optimizer = build_optimizer(model, config)
    model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader, test_loader
    )
    set_seed(config.seed, device_specific=True)  # each process gets its own dropout
    if not len(train_loader):
        raise SystemExit("Each process needs one full batch: use a smaller --batch-size.")
    if not len(val_loader) or not len(test_loader):
        raise SystemExit("The validation and the test data need at least one sample each.")

    for epoch in range(config.epochs):
        model.train()
        train_loss = 0.0
        for images, labels in train_loader:
            loss = compute_loss(model(images), labels).mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            train_loss += loss.detach()
        # all batches have the same size, so this is the mean over all samples
        train_loss = accelerator.reduce(train_loss, "mean") / len(train_loader)
        metrics = {"train_loss": float(train_loss)}
        metrics |= evaluate(accelerator, model, val_loader, "val")
        accelerator.print(f"epoch {epoch + 1}/{config.epochs} | {format_metrics(metrics)}")

    accelerator.save_model(model, config.output_dir)
    metrics = evaluate(accelerator, model, test_loader, "test")
    accelerator.print(f"saved to {config.output_dir} | {format_metrics(metrics)}")
    model, optimizer = accelerator.free_memory(model, optimizer)  # else DDP may hang at the end
    accelerator.end_training()
    return metrics


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
