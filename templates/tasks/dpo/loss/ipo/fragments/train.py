from torch import Tensor

#: slot loss_function
def compute_loss(gaps: Tensor, beta: Tensor) -> Tensor:
    """The loss of each pair, shape (batch,): https://arxiv.org/abs/2310.12036, formula 17."""
    return (gaps - 1 / (2 * beta)) ** 2
