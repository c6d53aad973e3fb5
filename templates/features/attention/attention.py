#: file
"""How the pretrained part of a model computes attention."""

from torch import nn
from transformers import PreTrainedModel


def set_attention(model: nn.Module, name: str) -> None:
    """Set the attention of a model: sdpa, eager, flash_attention_2 or flex_attention."""
    part = next(part for part in model.modules() if isinstance(part, PreTrainedModel))
    try:
        part.set_attn_implementation(name)
    except (ImportError, ValueError) as error:  # no such package or device, or not for this model
        raise SystemExit(f"{name} attention can't be used: {error}") from error
    if part.config._attn_implementation != name:
        raise SystemExit(f"{name} attention can't be used: {type(part).__name__} has its own.")
