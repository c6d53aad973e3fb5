import torch.nn.functional as F

#: replace pad with tpu
# pad to a multiple of 32, because XLA recompiles the step for each new length
padded = pad_sequence(list(rows), batch_first=True, padding_value=value)
return F.pad(padded, (0, -padded.shape[1] % 32), value=value)

#: replace padded with tpu with spelled
padded = pad_sequence(list(rows), batch_first=True)
size = 1 << (padded.shape[1] - 1).bit_length()  # few sizes: XLA compiles the step for each new one
more = padded.new_zeros(len(rows), size - padded.shape[1], *padded.shape[2:])
return torch.cat([padded, more], dim=1), lengths
