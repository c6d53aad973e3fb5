"""The proof runs on the CPU: without this, Accelerate would take the TPU for it."""

import os

os.environ["USE_TORCH_XLA"] = "false"
