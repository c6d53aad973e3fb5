#: with tokens
import torch
from accelerate import Accelerator
from torch import Tensor

from lib.metrics import count_tokens

#: replace running_loss when project.loop=complete
class RunningLoss:
    """The mean training loss per token, over all processes."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.sums = torch.zeros(2, device=accelerator.device)  # losses and tokens since read()
        self.epoch_sum, self.epoch_tokens = 0.0, 0.0  # over all processes, up to the last read()

    def add(self, losses: Tensor, targets: Tensor) -> None:
        """Add the losses of a batch, shape (batch, length). It does not wait for the device."""
        self.sums += torch.stack([losses.detach().sum(), count_tokens(targets).sum()])

    def read(self) -> float:
        """The mean since the last call. Call it on all processes."""
        total, tokens = self.accelerator.reduce(self.sums, "sum").tolist()
        #: slot reduced
        self.sums.zero_()
        self.epoch_sum += total
        self.epoch_tokens += tokens
        return total / max(tokens, 1)

    def end_epoch(self) -> float:
        """The mean of the epoch. Call it on all processes."""
        self.read()
        mean = self.epoch_sum / max(self.epoch_tokens, 1)
        self.epoch_sum, self.epoch_tokens = 0.0, 0.0
        return mean

    def state_dict(self) -> dict:
        """The sums of each process. Call it on all processes."""
        sums = self.accelerator.gather(self.sums.unsqueeze(0)).cpu()  # of each process
        return {"sum": self.epoch_sum, "tokens": self.epoch_tokens, "sums": sums}

    def load_state_dict(self, state: dict) -> None:
        self.epoch_sum, self.epoch_tokens = state["sum"], state["tokens"]
        self.sums.copy_(state["sums"][self.accelerator.process_index])
