"""The model: tokens in, logits of the next token out."""

from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Tokenizer:
    """Each byte of UTF-8 is a token, and one more token ends a document."""

    size, end = 257, 256
    start: ClassVar[list[int]] = [end]  # a document starts with the end token of the one before it
    bos: ClassVar[list[int]] = []  # what must be before each part of a text
    name = "bytes"

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def encode_all(self, texts: list[str]) -> list[np.ndarray]:
        return [np.frombuffer(text.encode(), np.uint8) for text in texts]

    def decode(self, tokens: list[int]) -> str:
        return bytes(token for token in tokens if token < 256).decode(errors="replace")


class Block(nn.Module):
    """Causal attention and an MLP, each with pre-norm and a residual connection."""

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

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.dropout(self.attend(self.attention_norm(x)))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))

    def attend(self, x: Tensor) -> Tensor:
        # (batch, length, 3 * width) to three of (batch, heads, length, width / heads); the layer
        # keeps the parts of a head together, so that it can be divided between heads
        parts = self.query_key_value(x).unflatten(-1, (-1, 3, self.head_width)).transpose(1, 2)
        query, key, value = parts.unbind(dim=3)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.projection(mixed.transpose(1, 2).flatten(2))


class GPT(nn.Module):
    """Logits of shape (batch, length, tokens) for tokens of shape (batch, length).

    A decoder-only transformer as in GPT-2 (Radford et al. 2019), without biases in its linear
    layers. The embedding and the logits share their weights.
    """

    def __init__(
        self, size: int, context: int, layers: int, width: int, heads: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, width)
        self.positions = nn.Embedding(context, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.5 * width**-0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.dropout(self.embedding(tokens) + self.positions(positions))
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)


def build_tokenizer(config) -> Tokenizer:
    return Tokenizer()


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % config.heads:
        raise SystemExit(f"--width {config.width} is not a multiple of --heads {config.heads}.")
    size = build_tokenizer(config).size
    return GPT(size, config.context, config.layers, config.width, config.heads)
