#: file
"""The model: tokens and their mask in, logits of the token at each position out."""

import torch
from torch import Tensor, nn

from data import build_tokenizer

#: slot blocks


#: slot functions


...  #: slot model
#: end file

from transformers import AutoModelForMaskedLM

from lib.limits import check_limits
from lib.rotary import Layers

#: slot model when model=encoder
class Encoder(nn.Module):
    """Logits of shape (batch, length, tokens) for tokens and a mask of shape (batch, length)."""

    def __init__(self, size: int, layers: int, width: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, width)
        self.layers = Layers(layers, width, dropout)
        self.logits = nn.Linear(width, size, bias=False)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.5 * width**-0.5)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["Block"]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.logits(self.layers(self.embedding(tokens), mask))


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    size = build_tokenizer(config).size
    return Encoder(size, config.layers, config.width, config.dropout)

#: slot model when model=pretrained
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


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = Pretrained(config.pretrained_name)
    check_limits(model.model, build_tokenizer(config).size, config.max_length, "--max-length")
    return model

#: replace load when model=pretrained with lora
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
