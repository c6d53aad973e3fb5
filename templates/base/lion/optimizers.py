#: file when optimizer=lion
"""Optimizers that PyTorch does not have."""

from collections.abc import Callable

import torch
from torch.optim import Optimizer


class Lion(Optimizer):
    """Moves each weight by the learning rate, against the sign of a momentum.

    Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2,
    https://arxiv.org/abs/2302.06675. Use a learning rate 3 to 10 times lower than for AdamW, and a
    weight decay as many times higher.
    """

    def __init__(
        self,
        parameters,
        lr: float,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        """Move the parameters that have a gradient. The closure is ignored."""
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["momentum"] = torch.zeros_like(parameter)
                momentum = state["momentum"]
                direction = momentum.lerp(parameter.grad, 1 - beta1).sign_()
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                parameter.add_(direction, alpha=-group["lr"])
                momentum.lerp_(parameter.grad, 1 - beta2)
