"""The model: tokens, their mask and types in, a score for each choice out."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from data import PIECES


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Rotate each pair of values by an angle that grows with the position.

    The product of a query and a key then depends on their distance (Su et al. 2021,
    https://arxiv.org/abs/2104.09864).
    """
    one, other = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([one * cos - other * sin, one * sin + other * cos], dim=-1).to(x.dtype)


class Block(nn.Module):
    """Attention and an MLP, each with pre-norm and a residual connection.

    Without a mask, attention is causal.
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.head_width = width // heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.projection = nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width, bias=False),
            nn.GELU(),
            nn.Linear(4 * width, width, bias=False),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, angles: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.dropout(self.attend(self.attention_norm(x), angles, mask))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))

    def attend(self, x: Tensor, angles: Tensor, mask: Tensor | None) -> Tensor:
        # (batch, length, 3 * width) to three of (batch, heads, length, width / heads); the layer
        # keeps the parts of a head together, so that it can be divided between heads
        parts = self.query_key_value(x).unflatten(-1, (-1, 3, self.head_width)).transpose(1, 2)
        query, key, value = parts.unbind(dim=3)
        query, key = rotate(query, angles), rotate(key, angles)
        mixed = F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, is_causal=mask is None
        )
        return self.projection(mixed.transpose(1, 2).flatten(2))


class Layers(nn.Module):
    """Layers in which each token sees the whole text, but no padding.

    A pre-norm transformer encoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762) with
    rotary positions.
    """

    def __init__(self, layers: int, width: int, dropout: float, heads: int = 4) -> None:
        super().__init__()
        if width % (2 * heads):
            raise SystemExit(f"--width {width} is not a multiple of {2 * heads}: {heads} heads.")
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Vectors of tokens, shape (batch, length, width), with a mask of shape (batch, length)."""
        pairs = self.blocks[0].head_width // 2
        rates = 10_000.0 ** (-torch.arange(pairs, device=x.device) / pairs)
        angles = torch.arange(x.shape[1], device=x.device).unsqueeze(1) * rates
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, angles, mask[:, None, None])  # the same for all heads and tokens
        return self.norm(x)


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

    def forward(self, tokens: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.types(types)
        # a padded choice has no token, and attention needs one
        mask = mask | (torch.arange(mask.shape[2], device=mask.device) == 0)
        x = self.layers(x.flatten(0, 1), mask.flatten(0, 1))
        return self.score(x[:, 0]).view(tokens.shape[:2])


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return Encoder(config.layers, config.width, config.dropout)
