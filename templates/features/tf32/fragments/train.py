import torch

#: slot after_environment
torch.set_float32_matmul_precision("high")  # TF32 where the GPU has it
