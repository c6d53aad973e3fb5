import torch.nn.functional as F

#: replace padding
tokens = pad_sequence(tokens, batch_first=True)
# pad to a multiple of 32, because XLA recompiles the step for each new length
tokens = F.pad(tokens, (0, -tokens.shape[1] % 32))
