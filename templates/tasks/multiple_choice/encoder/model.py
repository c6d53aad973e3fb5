#: file when model=encoder
"""The model: tokens, their mask and types in, a score for each choice out."""

import torch
from torch import Tensor, nn

from lib.tokenizers import PIECES
from lib.rotary import Layers


#: slot blocks


class Encoder(nn.Module):
    """Scores of shape (batch, choices) for tokens, mask and types, (batch, choices, length).

    Each choice is read with its text. The score is that of the first token.
    """

    def __init__(self, layers: int, width: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(PIECES, width)
        self.types = nn.Embedding(2, width)  # of the text, and of the choice
        self.layers = Layers(layers, width, dropout)
        self.score = nn.Linear(width, 1)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.5 * width**-0.5)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["Block"]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.types(types)
        # a padded choice has no token, and attention needs one
        mask = mask | (torch.arange(mask.shape[2], device=mask.device) == 0)
        x = self.layers(x.flatten(0, 1), mask.flatten(0, 1))
        return self.score(x[:, 0]).view(tokens.shape[:2])


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return Encoder(config.layers, config.width, config.dropout)
