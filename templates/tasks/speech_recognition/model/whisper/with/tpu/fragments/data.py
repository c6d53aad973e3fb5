import torch.nn.functional as F

#: slot datasets
def pad(rows: tuple[Tensor, ...], value: int) -> Tensor:
    """Rows padded to a multiple of 32, because XLA recompiles the step for each new length."""
    padded = pad_sequence(rows, batch_first=True, padding_value=value)
    return F.pad(padded, (0, -padded.shape[1] % 32), value=value)

#: replace padded
# no token sees a later one, so any token can pad the inputs
return torch.stack(sounds), pad(inputs, 0), pad(targets, IGNORED)
