#: file when model=encoder
"""The model: tokens and their mask in, logits of the token at each position out."""

import torch
from torch import Tensor, nn

from data import build_tokenizer
from lib.rotary import Layers


#: slot blocks


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
