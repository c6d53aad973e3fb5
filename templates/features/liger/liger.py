#: file
"""Liger's fused kernels for pretrained models (Hsu and others 2024)."""

import torch
from torch import nn
from transformers import PreTrainedModel


def use_kernels(model: nn.Module) -> None:
    """Replace norms, rotary embeddings and MLPs of the pretrained part of a model."""
    if not (torch.cuda.is_available() or torch.xpu.is_available()):
        raise SystemExit("Liger's kernels need an NVIDIA, AMD or Intel GPU.")
    # imported here because it needs Triton, which is not always installed
    from liger_kernel.transformers import monkey_patch

    part = next(part for part in model.modules() if isinstance(part, PreTrainedModel))
    kind = part.config.model_type
    if kind not in monkey_patch.MODEL_TYPE_TO_APPLY_LIGER_FN:
        raise SystemExit(f"Liger has no kernels for {kind}: train without them.")
    # train.py computes the loss, and needs the logits
    monkey_patch._apply_liger_kernel_to_instance(
        model=part, cross_entropy=False, fused_linear_cross_entropy=False
    )
