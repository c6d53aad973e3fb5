#: with tokens
import torch.nn.functional as F
from torch import Tensor

from lib.metrics import IGNORED, count_tokens

#: slot loss_function
def compute_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """The loss of each token, shape (batch, length); 0 where the target is IGNORED."""
    losses = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none"
    )
    return losses.view_as(targets)

#: replace backward
#: region every_token
# each token counts the same; backward() averages over the processes
#: end every_token
tokens = accelerator.reduce(count_tokens(targets).sum(), "sum")
accelerator.backward(losses.sum() * accelerator.num_processes / tokens)
