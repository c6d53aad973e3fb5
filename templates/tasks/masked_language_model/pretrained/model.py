#: file when model=pretrained
"""The model: tokens and their mask in, logits of the token at each position out."""

import torch
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM

from data import build_tokenizer
from lib.limits import check_limits


class Pretrained(nn.Module):
    """Logits of shape (batch, length, tokens) for tokens and a mask of shape (batch, length)."""

    def __init__(self, name: str) -> None:
        super().__init__()
        try:
            #: region load
            self.model = AutoModelForMaskedLM.from_pretrained(
                name,
                dtype=torch.float32,  # mixed precision needs weights in 32 bits
            )
            #: end load
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = [
            n for n in self.model._no_split_modules or () if "Embeddings" not in n
        ]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.model(input_ids=tokens, attention_mask=mask.long()).logits


#: slot functions


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = Pretrained(config.pretrained_name)
    check_limits(model.model, build_tokenizer(config).size, config.max_length, "--max-length")
    return model
#: end file

#: replace load with lora
self.model, facts = AutoModelForMaskedLM.from_pretrained(
    name,
    dtype=torch.float32,  # mixed precision needs weights in 32 bits
    output_loading_info=True,
)
if facts["missing_keys"]:  # with adapters, they would stay random
    raise SystemExit(
        f"The model {name!r} was not trained to find masked tokens: it lacks "
        f"{min(facts['missing_keys'])}. Train without adapters, or use another model."
    )
