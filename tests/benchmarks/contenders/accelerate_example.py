"""Accelerate, as its own examples write it: examples/by_feature, complete_nlp_example.py."""

import torch.nn.functional as F
from accelerate import Accelerator
from cases import EMA_DECAY, LEARNING_RATE, LOG_EVERY, MAX_NORM, WEIGHT_DECAY, Case
from torch import nn
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import Dataset


def train(case: Case, model: nn.Module, dataset: Dataset) -> None:
    accelerator = Accelerator(
        cpu=True,
        mixed_precision="bf16" if case.bf16 else "no",
        gradient_accumulation_steps=case.accumulated,
    )
    optimizer = AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    model, optimizer, loader = accelerator.prepare(model, optimizer, case.loader(dataset))
    if case.ema:
        bare = accelerator.unwrap_model(model)
        average = AveragedModel(bare, multi_avg_fn=get_ema_multi_avg_fn(EMA_DECAY))
    step = 0
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            loss = F.cross_entropy(model(inputs), targets)
            accelerator.backward(loss)
            if case.clips and accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), MAX_NORM)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            step += 1
            if case.ema:
                average.update_parameters(bare)
            if case.logs and step % LOG_EVERY == 0:
                accelerator.print(f"step {step} | loss {loss.item():.4f}", flush=True)
