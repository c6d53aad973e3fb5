import torch

#: slot after_environment
# measures each shape of a convolution when it first comes
torch.backends.cudnn.benchmark = True
