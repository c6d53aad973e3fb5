#: file when model=gpt
"""The model: tokens in, logits of the next token out."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Tokenizer:
    #: region tokens
    """Each byte of UTF-8 is a token, and one more token ends a document."""

    size, end = 257, 256
    #: end tokens

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

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
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["Block"]  # FSDP gathers one at a time
        #: end layer_classes
        #: slot cuts

    #: region embed
    def forward(self, tokens: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.dropout(self.embedding(tokens) + self.positions(positions))
        #: end embed
        for block in self.blocks:
            x = block(x)
        #: region logits
        return F.linear(self.norm(x), self.embedding.weight)
        #: end logits


def build_tokenizer(config) -> Tokenizer:
    return Tokenizer()


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % config.heads:
        raise SystemExit(f"--width {config.width} is not a multiple of --heads {config.heads}.")
    size = build_tokenizer(config).size
    return GPT(size, config.context, config.layers, config.width, config.heads)
#: end file

from tensor_parallel import as_whole

#: replace embed with context_parallel
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    if positions is None:  # whole texts
        positions = torch.arange(tokens.shape[1], device=tokens.device)
    x = self.dropout(self.embedding(tokens) + self.positions(positions))

#: slot cuts with tensor_parallel
self.heads = heads
self.cuts = {  # in each pair, split the first layer by outputs, the second by inputs
    "blocks.*.query_key_value": "colwise",
    "blocks.*.projection": "rowwise",
    "blocks.*.mlp.0": "colwise",
    "blocks.*.mlp.2": "rowwise",
}

#: replace logits with tensor_parallel
return F.linear(self.norm(x), as_whole(self.embedding.weight))

#: replace tokens when fill_in_middle=psm|spm
"""Each byte of UTF-8 is a token. One more ends a document, and three mark the middle."""

size, end = 260, 256
prefix, suffix, middle = 257, 258, 259
