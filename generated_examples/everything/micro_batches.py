"""Computes a batch in parts that fit into memory."""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from accelerate import Accelerator
from accelerate.utils import find_batch_size, slice_tensors
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from environment import write_line
from metrics import RunningLoss


class MicroBatches:
    """Splits batches into parts, of half the size each time that memory runs out.

    Tries the size in the first two updates: the optimizer takes its memory at the end of the first.
    """

    def __init__(self, accelerator: Accelerator, model: nn.Module, train_loss: RunningLoss) -> None:
        self.accelerator, self.model, self.train_loss = accelerator, model, train_loss
        self.parts, self.untried, self.failed = 1, 2, False

    def attempts(self, batch) -> Iterator[list]:
        """The parts of a batch, again in smaller ones as long as a process runs out of memory."""
        while self.untried:
            counted = self.train_loss.unread.clone(), self.train_loss.unread_samples
            self.failed = False
            if isinstance(self.model, DistributedDataParallel):
                # one that ran out does not send its buffers, such as the means of BatchNorm
                self.model.require_forward_param_sync = False
            yield self.split(batch)
            if not self.any_failed():
                self.untried -= 1
                self.average_gradients()
                return
            self.model.zero_grad()
            self.train_loss.unread, self.train_loss.unread_samples = counted
            clear_device_cache(garbage_collection=True)
            self.halve(find_batch_size(batch))
        yield self.split(batch)

    def split(self, batch) -> list:
        samples = find_batch_size(batch)
        size = math.ceil(samples / self.parts)
        return [slice_tensors(batch, slice(i, i + size)) for i in range(0, samples, size)]

    def halve(self, samples: int) -> None:
        if self.parts >= samples:
            raise SystemExit("Not even one sample fits into memory: take a smaller model.")
        self.parts *= 2
        if self.accelerator.is_main_process:
            write_line(f"out of memory: batches in {self.parts} parts from here on")

    @contextmanager
    def computing(self) -> Iterator[None]:
        """While a size is tried, note that memory ran out, where an error would be raised."""
        try:
            yield
        except RuntimeError as error:
            if not (self.untried and should_reduce_batch_size(error)):
                raise
            self.failed = True

    def exchange(self, last: bool) -> AbstractContextManager:
        """The processes exchange gradients with the last part; not while one may have failed."""
        if last and not self.untried:
            return nullcontext()
        return self.accelerator.no_sync(self.model)

    def any_failed(self) -> bool:
        failed = torch.tensor(float(self.failed), device=self.accelerator.device)
        return bool(self.accelerator.reduce(failed, "sum") > 0)

    def average_gradients(self) -> None:
        for weight in self.model.parameters():
            if weight.grad is not None:
                weight.grad = self.accelerator.reduce(weight.grad, "mean")

    def state_dict(self) -> dict:
        return {"parts": self.parts, "untried": self.untried}

    def load_state_dict(self, state: dict) -> None:
        vars(self).update(state)
