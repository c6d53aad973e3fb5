#: file when quantization=nf4
"""QLoRA: adapters for a pretrained model with 4-bit weights.

Dettmers and others 2023, https://arxiv.org/abs/2305.14314
"""

import torch
from accelerate import PartialState
from bitsandbytes.functional import dequantize_4bit
from bitsandbytes.nn import Linear4bit, Params4bit
from torch import nn
from transformers import PreTrainedModel


class Frozen4bit(Linear4bit):
    """A linear layer with 4-bit weights. They are pretrained, so checkpoints leave them out."""

    def _save_to_state_dict(self, destination, prefix, keep_vars) -> None:
        pass

    def _load_from_state_dict(self, *args) -> None:
        pass


def quantize(model: nn.Module, config, rounded: bool = False) -> None:
    """Quantize the linear layers of the pretrained part to 4 bits, except new and last layers.

    Rounded: they keep 32 bits, and get the values that 4 bits can have. Adapters that were trained
    beside 4 bits can be added to these without a loss.
    """
    part = next(part for part in model.modules() if isinstance(part, PreTrainedModel))
    logits, inner = part.get_output_embeddings(), part.base_model
    kept = set(part._keep_in_fp32_modules or ())  # names of layers that need 32 bits, as in T5
    layers = [
        (name, layer)
        for name, layer in inner.named_modules()
        if type(layer) is nn.Linear and layer is not logits and not kept & set(name.split("."))
    ]
    if not layers:
        raise SystemExit(f"{type(part).__name__} has no linear layers to quantize.")
    for name, layer in layers:
        weight = Params4bit(
            layer.weight.detach(),
            requires_grad=False,
            quant_type="nf4",
            compress_statistics=config.lora_double_quantization,
        ).to(PartialState().device)
        if rounded:
            values = dequantize_4bit(weight.data, weight.quant_state)
            layer.weight.data.copy_(values)
        else:
            inner.set_submodule(name, freeze(layer, weight, config))
    part.is_loaded_in_4bit = not rounded  # which adapters fit, for PEFT


def freeze(layer: nn.Linear, weight: Params4bit, config) -> Frozen4bit:
    """The same layer with 4-bit weights."""
    found = Frozen4bit(
        layer.in_features,
        layer.out_features,
        layer.bias is not None,
        compute_dtype=getattr(torch, config.lora_compute_dtype),
        device="meta",
    )
    found.weight, found.bias = weight, layer.bias
    # on some CPUs an evaluation would round the scales of the weights further, for good
    found.support_avx512bf16_for_cpu = False
    weight.module = found
    return found
