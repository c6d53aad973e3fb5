import torch.nn.functional as F

#: slot datasets
def pad(rows: list[Tensor]) -> Tensor:
    """Rows padded to a multiple of 32, because XLA recompiles the step for each new length."""
    padded = pad_sequence(rows, batch_first=True)
    return F.pad(padded, (0, -padded.shape[1] % 32))

#: replace padding
return pad(tokens), pad(mask)
