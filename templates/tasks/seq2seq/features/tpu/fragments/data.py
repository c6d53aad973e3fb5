from collections.abc import Sequence

import torch.nn.functional as F

#: slot datasets
def pad(rows: Sequence[Tensor], value: int) -> Tensor:
    """Rows of one length, which is a multiple of 32: XLA compiles the loop again for each new one."""
    padded = pad_sequence(list(rows), batch_first=True, padding_value=value)
    return F.pad(padded, (0, -padded.shape[1] % 32), value=value)

#: replace padding
return pad(sources, PADDING), pad(inputs, PADDING), pad(targets, IGNORED)
