import torch
from accelerate import Accelerator
from torch import nn

#: slot classes
class LocalSgd:
    """Averages the weights of all processes every `every` steps (Stich 2019).

    The state of the optimizer is averaged too, because a checkpoint holds it only once.
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
                "With fp16 each process skips different steps: use bf16, or turn local SGD off."
            )
        self.accelerator, self.model, self.optimizer = accelerator, model, optimizer
        self.every = every

    def step(self, step: int) -> None:
        """Call it after each step. Call it on all processes."""
        if step % self.every == 0:
            self.average()

    @torch.no_grad()
    def average(self) -> None:
        """Average now. Call it on all processes."""
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
        """Average, because a checkpoint holds the weights of one process. Nothing else to save."""
        self.average()
        return {}

    def load_state_dict(self, state: dict) -> None:
        pass
