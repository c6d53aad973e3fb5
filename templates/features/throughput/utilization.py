#: file when utilization=model_flops
"""Model FLOPs utilization (MFU): the model's operations as a share of the device's peak.

Chowdhery and others 2022, PaLM, appendix B, https://arxiv.org/abs/2204.02311
"""

import torch
from torch import nn

# Dense operations per second in 16 bits, accumulated in 32 bits, from NVIDIA's data sheets, which
# give twice as much with sparsity. Longer names come before names that they contain. The T4 and the
# V100 compute only in fp16.
PEAKS = {
    "B200": 2250e12,
    "GH200": 989e12,
    "H200": 989e12,
    "H100 NVL": 835e12,
    "H100 PCIe": 756e12,
    "H100": 989e12,
    "A100": 312e12,
    "A10G": 70e12,
    "A10": 125e12,
    "L40S": 362e12,
    "L4": 121e12,
    "T4": 65e12,
    "V100": 125e12,
    "RTX 4090": 165e12,
    "RTX 3090": 71e12,
}


def flops_per_token(model: nn.Module, layers: int, width: int, context: int) -> int:
    """Operations of a step for each token: 6 N + 12 layers width context.

    A weight takes two in the forward pass and two for the gradient of its input, and two for its
    own gradient if it is trained. Recomputation by activation checkpointing does not count.
    """
    weights = list(model.parameters())
    trained = sum(weight.numel() for weight in weights if weight.requires_grad)
    whole = sum(weight.numel() for weight in weights)
    return 4 * whole + 2 * trained + 12 * layers * width * context


def peak_flops(device: torch.device) -> float:
    """Operations per second; 0 if they are not known."""
    if device.type != "cuda":
        return 0.0
    words = torch.cuda.get_device_name(device).replace("-", " ")  # NVIDIA A100-SXM4-80GB
    return next((peak for name, peak in PEAKS.items() if f" {name} " in f" {words} "), 0.0)
