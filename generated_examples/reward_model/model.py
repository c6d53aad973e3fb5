"""The model: tokens of conversations and their mask in, rewards out."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

ROLES = {"system": 256, "user": 257, "assistant": 258}  # their tokens


class Tokenizer:
    """Each byte of UTF-8 is a token, plus one for each role and one for the end of a message."""

    roles = ROLES
    end, size = 259, 260

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def show(self, tokens: list[int]) -> str:
        """The text of tokens, with the names of those that are not bytes."""
        names = {token: f"<{role}>" for role, token in self.roles.items()} | {self.end: "<end>"}
        parts = [names[token].encode() if token in names else bytes([token]) for token in tokens]
        return b"".join(parts).decode(errors="replace")


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


class GPT(nn.Module):
    """Rewards of shape (batch,) for tokens and their mask, both of shape (batch, length).

    A decoder-only transformer as in GPT-2 (Radford et al. 2019), with rotary positions and without
    biases in its linear layers.
    """

    def __init__(
        self, size: int, layers: int, width: int, heads: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.reward = nn.Linear(width, 1, bias=False)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.5 * width**-0.5)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        lasts = mask.sum(dim=1) - 1  # padding comes after a text, and attention never looks ahead
        positions, mask = torch.arange(tokens.shape[1], device=tokens.device), None
        pairs = self.blocks[0].head_width // 2
        rates = 10_000.0 ** (-torch.arange(pairs, device=tokens.device) / pairs)
        angles = (positions.unsqueeze(-1) * rates).unsqueeze(-3)  # the same for all heads
        x = self.dropout(self.embedding(tokens))
        for block in self.blocks:
            x = block(x, angles, mask)
        rewards = self.reward(self.norm(x)).squeeze(2)  # after each token: the last has read all
        return rewards.gather(1, lasts.unsqueeze(1)).squeeze(1)


def build_tokenizer(config) -> Tokenizer:
    return Tokenizer()


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % (2 * config.heads):
        raise SystemExit(f"--width {config.width} is not a multiple of 2 * --heads {config.heads}.")
    return GPT(build_tokenizer(config).size, config.layers, config.width, config.heads)
