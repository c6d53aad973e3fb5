"""Train an image classifier on scikit-learn's handwritten digits.

`python train.py --epochs 5` trains for 5 epochs.
"""

import argparse
from dataclasses import dataclass, fields
from itertools import islice

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from data import build_loaders
from model import build_model


@dataclass(frozen=True)
class Config:
    epochs: int = 20  # passes over the training data
    batch_size: int = 32  # samples per batch on each process
    learning_rate: float = 0.001  # learning rate
    weight_decay: float = 0.01  # weight decay; 0: off
    num_workers: int = 0  # data workers per process; 0: load in the training process
    seed: int = 0  # seeds the initial weights, the data order and dropout
    output_dir: str = "runs/latest"  # for model.safetensors


def build_optimizer(model: nn.Module, config: Config) -> Optimizer:
    parameters = model.parameters()
    return AdamW(parameters, config.learning_rate, weight_decay=config.weight_decay)


def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,)."""
    return F.cross_entropy(logits, labels, reduction="none")


@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss and accuracy of all samples. gather_for_metrics drops the padding."""
    model.eval()
    loss_sum = correct = seen = 0
    for images, labels in islice(loader, limit or None):
        logits = model(images)
        losses = compute_loss(logits, labels)
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        correct += (predictions == labels).sum()
        seen += len(labels)
    model.train()
    return {f"{name}_loss": float(loss_sum) / seen, f"{name}_accuracy": float(correct) / seen}


def main(config: Config) -> dict[str, float]:
    accelerator = Accelerator()
    set_seed(config.seed)
    train_loader, val_loader, test_loader = build_loaders(config)
    model = build_model(config)
    optimizer = build_optimizer(model, config)
    model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader, test_loader
    )
    set_seed(config.seed, device_specific=True)  # each process gets its own dropout
    if not len(train_loader):
        raise SystemExit("The training data does not fill one batch: use a smaller --batch-size.")

    for epoch in range(config.epochs):
        model.train()
        for images, labels in train_loader:
            loss = compute_loss(model(images), labels).mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        metrics = evaluate(accelerator, model, val_loader, "val")
        accelerator.print(f"epoch {epoch + 1}/{config.epochs} | {metrics}")

    accelerator.save_model(model, config.output_dir)
    metrics = evaluate(accelerator, model, test_loader, "test")
    accelerator.print(f"done | {metrics}")
    accelerator.end_training()
    return metrics


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for field in fields(Config):
        flag = f"--{field.name.replace('_', '-')}"
        parser.add_argument(flag, type=field.type, default=field.default)
    main(Config(**vars(parser.parse_args())))
