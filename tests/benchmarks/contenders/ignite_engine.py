"""Ignite: its supervised trainer, and an engine of one's own where that has no option."""

import torch
import torch.nn.functional as F
from cases import EMA_DECAY, LEARNING_RATE, LOG_EVERY, MAX_NORM, WEIGHT_DECAY, Case
from ignite.engine import Engine, Events, create_supervised_trainer
from ignite.handlers import EMAHandler
from torch import nn
from torch.optim import AdamW
from torch.utils.data import Dataset


def train(case: Case, model: nn.Module, dataset: Dataset) -> None:
    optimizer = AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)

    def step(engine, batch):
        model.train()
        inputs, targets = batch
        optimizer.zero_grad()
        if case.bf16:
            with torch.autocast("cpu", torch.bfloat16):
                outputs = model(inputs)
            loss = F.cross_entropy(outputs.float(), targets)
        else:
            loss = F.cross_entropy(model(inputs), targets)
        loss.backward()
        if case.clips:
            nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()
        return loss.item()

    if case.clips or case.bf16:  # its mixed precision is for GPUs
        engine = Engine(step)
    else:
        engine = create_supervised_trainer(
            model, optimizer, F.cross_entropy, gradient_accumulation_steps=case.accumulated
        )
    if case.ema:
        EMAHandler(model, momentum=1 - EMA_DECAY).attach(engine, event=Events.ITERATION_COMPLETED)
    if case.logs:

        @engine.on(Events.ITERATION_COMPLETED(every=LOG_EVERY))
        def print_loss(engine):
            print(f"step {engine.state.iteration} | loss {engine.state.output:.4f}", flush=True)

    engine.run(case.loader(dataset), max_epochs=1)
