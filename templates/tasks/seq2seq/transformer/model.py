#: file when model=transformer
"""The model: a source and the start of its target in, logits of the next token out."""

import math

import torch
from torch import Tensor, nn

# each byte of UTF-8 is a token, and there are three more
PADDING, START, END = 256, 257, 258
SIZE = 259


class Seq2Seq(nn.Module):
    """Logits of shape (batch, length, tokens) for inputs of shape (batch, length).

    An encoder and a decoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762) with
    pre-norm. At each position the decoder sees the whole source and earlier inputs.
    """

    def __init__(self, width: int, layers: int, dropout: float, heads: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SIZE, width)
        # the default of 1.0 would drown out the sinusoidal positions
        nn.init.normal_(self.embedding.weight, std=0.3)
        settings = {"nhead": heads, "dim_feedforward": 4 * width, "dropout": dropout}
        settings |= {"batch_first": True, "norm_first": True}
        # a custom encoder, because the default one warns that norm_first disables nested tensors
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(width, **settings),
            layers,
            nn.LayerNorm(width),
            enable_nested_tensor=False,
        )
        self.transformer = nn.Transformer(
            width, num_decoder_layers=layers, custom_encoder=encoder, **settings
        )
        self.logits = nn.Linear(width, SIZE)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = [
            "TransformerEncoderLayer",
            "TransformerDecoderLayer",
        ]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, sources: Tensor, inputs: Tensor) -> Tensor:
        return self.decode(self.encode(sources), sources, inputs)

    def encode(self, sources: Tensor) -> Tensor:
        """The encoded sources, shape (batch, length, width)."""
        padding = sources == PADDING
        return self.transformer.encoder(self.embed(sources), src_key_padding_mask=padding)

    def decode(self, encoded: Tensor, sources: Tensor, inputs: Tensor) -> Tensor:
        """Logits of the token after each input. `sources` tells where `encoded` is padding."""
        length = inputs.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=inputs.device).triu(1)
        decoded = self.transformer.decoder(
            self.embed(inputs),
            encoded,
            tgt_mask=later,
            tgt_is_causal=True,
            memory_key_padding_mask=sources == PADDING,
        )
        return self.logits(decoded)

    def embed(self, tokens: Tensor) -> Tensor:
        """Token embeddings plus sinusoidal position embeddings."""
        x = self.embedding(tokens)
        width = x.shape[-1]
        positions = torch.arange(tokens.shape[1], device=x.device).unsqueeze(1)
        exponents = torch.arange(0, width, 2, device=x.device) * (-math.log(10_000) / width)
        angles = positions * exponents.exp()
        return x + torch.cat([angles.sin(), angles.cos()], dim=1)

    def generate(self, sources: Tensor, length: int) -> Tensor:
        """Greedy decoding of `length` tokens for each source: (batch, length)."""
        encoded = self.encode(sources)
        tokens = torch.full((len(sources), 1), START, device=sources.device)
        for _ in range(length):
            logits = self.decode(encoded, sources, tokens)[:, -1]
            tokens = torch.cat([tokens, logits.argmax(dim=-1, keepdim=True)], dim=1)
        return tokens[:, 1:]


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return Seq2Seq(config.width, config.layers, config.dropout)
