from collections.abc import Iterable

import torch
from torch import nn

#: slot classes when kind=adaptive
@torch.no_grad()
def clip_adaptively(parameters: Iterable[nn.Parameter], factor: float) -> None:
    """Clip the gradient of each unit to `factor` times the norm of the unit's weights.

    A unit is a row of a matrix, a filter of a convolution, or a whole vector. Brock et al. 2021,
    https://arxiv.org/abs/2102.06171, equation 3.
    """
    for parameter in parameters:
        if parameter.grad is not None:
            unit = tuple(range(1, parameter.ndim))  # empty for a vector, whose norm is a scalar
            shape = {"dim": unit or None, "keepdim": bool(unit)}
            size = torch.linalg.vector_norm(parameter, **shape).clamp(min=1e-3)
            norm = torch.linalg.vector_norm(parameter.grad, **shape)
            parameter.grad.mul_((factor * size / norm.clamp(min=1e-6)).clamp(max=1.0))
