import torch

#: slot after_environment
torch.set_float32_matmul_precision("high")  # TF32 if the GPU supports it
