"""Lightning Fabric: a loop of one's own."""

import logging

import torch.nn.functional as F
from cases import EMA_DECAY, LEARNING_RATE, LOG_EVERY, MAX_NORM, WEIGHT_DECAY, Case
from lightning.fabric import Fabric
from torch import nn
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import Dataset

logging.getLogger("lightning.fabric").setLevel(logging.ERROR)


def train(case: Case, model: nn.Module, dataset: Dataset) -> None:
    fabric = Fabric(
        accelerator="cpu", devices=1, precision="bf16-mixed" if case.bf16 else "32-true"
    )
    optimizer = AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    bare = model
    model, optimizer = fabric.setup(model, optimizer)
    loader = fabric.setup_dataloaders(case.loader(dataset))
    if case.ema:
        average = AveragedModel(bare, multi_avg_fn=get_ema_multi_avg_fn(EMA_DECAY))
    step = 0
    for index, (inputs, targets) in enumerate(loader):
        accumulating = (index + 1) % case.accumulated != 0
        with fabric.no_backward_sync(model, enabled=accumulating):
            loss = F.cross_entropy(model(inputs), targets)
            fabric.backward(loss / case.accumulated)
        if accumulating:
            continue
        if case.clips:
            fabric.clip_gradients(model, optimizer, max_norm=MAX_NORM)
        optimizer.step()
        optimizer.zero_grad()
        if case.ema:
            average.update_parameters(bare)
        step += 1
        if case.logs and step % LOG_EVERY == 0:
            fabric.print(f"step {step} | loss {loss.item():.4f}", flush=True)
