from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

#: slot classes
class Ema:
    """An exponential moving average of the weights of an unwrapped model.

    It begins with the weights after the first update, and forgets faster in the beginning, as
    TensorFlow's ExponentialMovingAverage does with num_updates. Buffers are not averaged.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.weights = list(model.parameters())
        self.average: list[torch.Tensor] = []
        self.decay, self.updates = decay, 0

    @torch.no_grad()
    def update(self) -> None:
        self.updates += 1
        if self.average:
            decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
            torch._foreach_lerp_(self.average, self.weights, 1 - decay)
        else:
            self.average = [weight.detach().clone() for weight in self.weights]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The model has the averaged weights inside, and its own again afterwards."""
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
        return {"average": self.average, "updates": self.updates}

    def load_state_dict(self, state: dict) -> None:
        self.average = [
            value.to(weight.device)
            for weight, value in zip(self.weights, state["average"], strict=True)
        ]
        self.updates = state["updates"]
