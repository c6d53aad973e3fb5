#: replace padded
padded = pad_sequence(list(rows), batch_first=True)
size = 1 << (padded.shape[1] - 1).bit_length()  # few sizes: XLA compiles the step for each new one
more = padded.new_zeros(len(rows), size - padded.shape[1], *padded.shape[2:])
return torch.cat([padded, more], dim=1), lengths
