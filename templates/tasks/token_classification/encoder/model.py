#: file when model=encoder
"""The model: tokens and their mask in, logits of each token's tag out."""

import math

import torch
from torch import Tensor, nn

from data import PIECES, tag_names


class Encoder(nn.Module):
    """Logits of shape (batch, length, tags) for tokens and a mask of shape (batch, length).

    A pre-norm transformer encoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762). Each
    token sees the whole sentence, but no padding.
    """

    def __init__(self, tags: int, width: int, layers: int, dropout: float, heads: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(PIECES, width)
        # the default of 1.0 would drown out the sinusoidal positions
        nn.init.normal_(self.embedding.weight, std=0.3)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout, batch_first=True, norm_first=True
        )
        # the default warns that norm_first disables nested tensors
        norm = nn.LayerNorm(width)
        self.encoder = nn.TransformerEncoder(layer, layers, norm, enable_nested_tensor=False)
        self.logits = nn.Linear(width, tags)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["TransformerEncoderLayer"]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.logits(self.encoder(self.embed(tokens), src_key_padding_mask=~mask))

    def embed(self, tokens: Tensor) -> Tensor:
        """Token embeddings plus sinusoidal position embeddings."""
        x = self.embedding(tokens)
        width = x.shape[-1]
        positions = torch.arange(tokens.shape[1], device=x.device).unsqueeze(1)
        exponents = torch.arange(0, width, 2, device=x.device) * (-math.log(10_000) / width)
        angles = positions * exponents.exp()
        return x + torch.cat([angles.sin(), angles.cos()], dim=1)


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % 4:
        raise SystemExit(f"--width {config.width} is not a multiple of 4, the number of heads.")
    #: region tags
    tags = tag_names(config)
    #: end tags
    return Encoder(len(tags), config.width, config.layers, config.dropout)
