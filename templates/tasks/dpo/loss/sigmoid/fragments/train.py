import torch.nn.functional as F
from metrics import count_tokens
from torch import Tensor

#: slot loss_function
def compute_loss(gaps: Tensor, beta: Tensor) -> Tensor:
    """The loss of each pair, shape (batch,): https://arxiv.org/abs/2305.18290, formula 7."""
    return -F.logsigmoid(beta * gaps)

#: replace imitation
# the loss per token of the preferred answer
losses = losses - config.sft_weight * (log_probs / count_tokens(targets))[:, 0]
