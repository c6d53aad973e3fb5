"""Splits a batch into micro-batches that fit in memory."""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from accelerate import Accelerator
from accelerate.utils import find_batch_size, slice_tensors
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from metrics import RunningLoss, log


class MicroBatches:
    """Splits batches into parts, and halves the parts each time that memory runs out.

    It tests the size in the first two steps, because the optimizer takes its memory at the end of
    the first.
    """

    def __init__(self, accelerator: Accelerator, model: nn.Module, train_loss: RunningLoss) -> None:
        self.accelerator, self.model, self.train_loss = accelerator, model, train_loss
        self.parts, self.untested, self.failed = 1, 2, False

    def attempts(self, batch) -> Iterator[list]:
        """The parts of a batch, made smaller as long as any process runs out of memory."""
        while self.untested:
            sums = self.train_loss.sums.clone()
            self.failed = False
            if isinstance(self.model, DistributedDataParallel):
                # a process that ran out of memory does not send its buffers, such as BatchNorm's
                self.model.require_forward_param_sync = False
            yield self.split(batch)
            if not self.any_failed():
                self.untested -= 1
                self.average_gradients()
                return
            self.model.zero_grad()
            self.train_loss.sums.copy_(sums)
            clear_device_cache(garbage_collection=True)
            self.halve(find_batch_size(batch))
        yield self.split(batch)

    def split(self, batch) -> list:
        samples = find_batch_size(batch)
        size = math.ceil(samples / self.parts)
        return [slice_tensors(batch, slice(i, i + size)) for i in range(0, samples, size)]

    def halve(self, samples: int) -> None:
        if self.parts >= samples:
            raise SystemExit("Not even one sample fits in memory: use a smaller model.")
        self.parts *= 2
        log(f"out of memory: each batch is computed in {self.parts} parts")

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """While a size is tested, note that memory ran out instead of raising the error."""
        try:
            yield
        except RuntimeError as error:
            if not (self.untested and should_reduce_batch_size(error)):
                raise
            self.failed = True

    def exchange(self, last: bool) -> AbstractContextManager:
        """Exchange gradients with the last part, but not while a process may have failed."""
        if last and not self.untested:
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
        return {"parts": self.parts, "untested": self.untested}

    def load_state_dict(self, state: dict) -> None:
        self.parts, self.untested = state["parts"], state["untested"]
