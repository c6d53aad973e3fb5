import os

import torch

#: slot after_environment
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS requires it
torch.use_deterministic_algorithms(True)
