import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import Tensor

#: replace running_loss
IGNORED = -100  # a target that does not count, as F.cross_entropy has it


def token_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """The cross-entropy of each token, shape (batch, length); 0 where the target is IGNORED."""
    losses = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none"
    )
    return losses.view_as(targets)


def count_tokens(targets: Tensor) -> Tensor:
    """The number of targets that count in each sample, shape (batch,), on the device."""
    return (targets != IGNORED).sum(dim=1)


class RunningLoss:
    """The mean training loss of a token, over all processes.

    Losses are summed on the device and read only now and then, because reading waits for it.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.unread = torch.zeros(2, device=accelerator.device)  # the losses, and their number
        self.epoch, self.epoch_tokens = 0.0, 0.0  # what was read since the epoch began

    def add(self, losses: Tensor, targets: Tensor) -> None:
        """Count the losses of a batch, one for each token."""
        self.unread += torch.stack([losses.detach().sum(), count_tokens(targets).sum()])

    def read(self) -> float:
        """The mean since the last time. All processes call it together."""
        total, tokens = self.accelerator.reduce(self.unread, "sum").tolist()
        #: slot reduced
        self.unread.zero_()
        self.epoch += total
        self.epoch_tokens += tokens
        return total / max(tokens, 1)

    def end_epoch(self) -> float:
        """The mean of the epoch. All processes call it together."""
        self.read()
        mean = self.epoch / max(self.epoch_tokens, 1)
        self.epoch, self.epoch_tokens = 0.0, 0.0
        return mean

    def state_dict(self) -> dict:
        """The sums, those of each process apart. All processes call it together."""
        return {
            "unread": self.accelerator.gather(self.unread).tolist(),
            "epoch": self.epoch,
            "epoch_tokens": self.epoch_tokens,
        }

    def load_state_dict(self, state: dict) -> None:
        vars(self).update(state)
        first = 2 * self.accelerator.process_index
        unread = state["unread"][first : first + 2]
        self.unread = torch.tensor(unread, device=self.accelerator.device)
