"""PyTorch alone: the limit."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from cases import EMA_DECAY, LEARNING_RATE, LOG_EVERY, MAX_NORM, WEIGHT_DECAY, Case
from torch import nn
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import Dataset


def train(case: Case, model: nn.Module, dataset: Dataset) -> None:
    for _ in steps(case, model, dataset):
        pass


def steps(case: Case, model: nn.Module, dataset: Dataset) -> Iterator[None]:
    """The loop, which can be left and entered again after each step."""
    optimizer = AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    if case.ema:
        average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(EMA_DECAY))
    step = 0
    for index, (inputs, targets) in enumerate(case.loader(dataset)):
        if case.bf16:
            with torch.autocast("cpu", torch.bfloat16):
                outputs = model(inputs)
            loss = F.cross_entropy(outputs.float(), targets)
        else:
            loss = F.cross_entropy(model(inputs), targets)
        if case.accumulated > 1:
            (loss / case.accumulated).backward()
            if (index + 1) % case.accumulated:
                continue
        else:
            loss.backward()
        if case.clips:
            nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()
        optimizer.zero_grad()
        if case.ema:
            average.update_parameters(model)
        step += 1
        if case.logs and step % LOG_EVERY == 0:
            print(f"step {step} | loss {loss.item():.4f}", flush=True)
        yield
