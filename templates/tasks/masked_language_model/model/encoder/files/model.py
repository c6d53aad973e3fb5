"""The model: tokens and their mask in, logits of the token at each place out."""

import torch
from torch import Tensor, nn

from data import build_tokenizer


#: slot blocks


class Encoder(nn.Module):
    """Logits of shape (batch, length, tokens) for tokens and a mask of shape (batch, length).

    The encoder of a transformer (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762) with norms
    before each layer and rotary positions. Each token sees the whole block, but no padding.
    """

    def __init__(self, size: int, layers: int, width: int, dropout: float, heads: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.logits = nn.Linear(width, size, bias=False)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.5 * width**-0.5)
        #: slot layer_classes

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        pairs = self.blocks[0].head_width // 2
        rates = 10_000.0 ** (-torch.arange(pairs, device=tokens.device) / pairs)
        angles = positions.unsqueeze(1) * rates
        x = self.dropout(self.embedding(tokens))
        for block in self.blocks:
            x = block(x, angles, mask[:, None, None])  # the same for all heads and tokens
        return self.logits(self.norm(x))


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % 8:
        raise SystemExit(f"--width {config.width} is not a multiple of 8: 4 heads with pairs.")
    size = build_tokenizer(config).size
    return Encoder(size, config.layers, config.width, config.dropout)
