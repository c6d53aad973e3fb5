import torch

#: slot model
model = model.to(memory_format=torch.channels_last)
