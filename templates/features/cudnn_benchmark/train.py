import torch

#: slot after_environment
torch.backends.cudnn.benchmark = True  # measures each shape of a convolution once
