#: file
"""The model: {{ task.takes }}"""

import torch
from torch import Tensor, nn


#: slot pool


#: slot functions


#: slot encoder


#: slot towers


...  #: slot build_model
#: end file

from data import PIECES

#: slot encoder when model=encoder
class Encoder(nn.Module):
    """Vectors of shape (batch, width) for tokens and a mask of shape (batch, length).

    A pre-norm transformer encoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762), with
    mean pooling over its outputs.
    """

    def __init__(self, config, heads: int = 4) -> None:
        super().__init__()
        #: region sizes
        self.temperature, width = config.temperature, config.width
        #: end sizes
        self.embedding = nn.Embedding(PIECES, width)
        self.positions = nn.Embedding(config.max_length, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, config.dropout, batch_first=True, norm_first=True
        )
        # the default warns that norm_first disables nested tensors
        settings = {"norm": nn.LayerNorm(width), "enable_nested_tensor": False}
        self.encoder = nn.TransformerEncoder(layer, config.layers, **settings)
        #: region classes
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["TransformerEncoderLayer"]  # FSDP gathers one at a time
        #: end layer_classes
        #: end classes

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.embedding(tokens) + self.positions(places)
        return pool(self.encoder(x, src_key_padding_mask=~mask), mask)

#: slot build_model when model=encoder
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % 4:
        raise SystemExit(f"--width {config.width} is not a multiple of 4, the number of heads.")
    #: region built
    return Encoder(config)
    #: end built
