from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

#: slot classes
class Ema:
    """An exponential moving average of the weights of an unwrapped model, but not of its buffers.

    It starts with the weights after the first step. At first its decay is lower than `decay`,
    as in TensorFlow's ExponentialMovingAverage does with num_updates.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.weights = list(model.parameters())
        self.average: list[torch.Tensor] = []
        self.decay, self.steps = decay, 0

    @torch.no_grad()
    def update(self) -> None:
        self.steps += 1
        if self.average:
            decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
            torch._foreach_lerp_(self.average, self.weights, 1 - decay)
        else:
            self.average = [weight.detach().clone() for weight in self.weights]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Swap the averaged weights in, and the model's own weights back afterwards."""
        own = [weight.detach().clone() for weight in self.weights]
        self.copy(self.average or own)
        try:
            yield
        finally:
            self.copy(own)

    @torch.no_grad()
    def copy(self, values: list[torch.Tensor]) -> None:
        for weight, value in zip(self.weights, values, strict=True):
            weight.copy_(value)

    def state_dict(self) -> dict:
        return {"average": self.average, "steps": self.steps}

    def load_state_dict(self, state: dict) -> None:
        self.average = [
            value.to(weight.device)
            for weight, value in zip(self.weights, state["average"], strict=True)
        ]
        self.steps = state["steps"]
