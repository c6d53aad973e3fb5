import torch
from accelerate import Accelerator
from torch import nn

#: slot classes
class LocalSgd:
    """Makes the weights of all processes their mean, every so many updates (Stich 2019).

    What the optimizer remembers of its gradients is averaged too: a checkpoint holds it once.
    """

    def __init__(
        self,
        accelerator: Accelerator,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        every: int,
    ) -> None:
        if accelerator.mixed_precision == "fp16":
            raise SystemExit(
                "With fp16 each process would skip updates of its own: take bf16, or no local SGD."
            )
        self.accelerator, self.model, self.optimizer = accelerator, model, optimizer
        self.every = every

    def step(self, update: int) -> None:
        """All processes call it together, after each update."""
        if update % self.every == 0:
            self.average()

    @torch.no_grad()
    def average(self) -> None:
        """All processes call it together."""
        tensors = [*self.model.parameters()]
        tensors += [buffer for buffer in self.model.buffers() if buffer.is_floating_point()]
        for state in self.optimizer.state.values():
            tensors += [
                value
                for name, value in state.items()
                if name != "step" and isinstance(value, torch.Tensor)
            ]
        for tensor in tensors:
            tensor.copy_(self.accelerator.reduce(tensor, "mean"))

    def state_dict(self) -> dict:
        """Nothing, but what is saved along with it are the weights of one process: average them."""
        self.average()
        return {}

    def load_state_dict(self, state: dict) -> None:
        pass
