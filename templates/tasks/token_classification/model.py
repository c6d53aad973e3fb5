#: file
"""The model: tokens and their mask in, logits of each token's tag out."""

import torch
from torch import Tensor, nn

from data import tag_names

#: slot functions


...  #: slot model
#: end file

import math

from transformers import AutoModelForTokenClassification

from data import PIECES, build_tokenizer
from lib.limits import check_limits

#: slot model when model=encoder
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

#: slot model when model=pretrained
class Pretrained(nn.Module):
    """Logits of shape (batch, length, tags) for tokens and a mask of shape (batch, length).

    The pretrained model has a new layer for the tags.
    """

    def __init__(self, name: str, tags: list[str]) -> None:
        super().__init__()
        try:
            self.model = AutoModelForTokenClassification.from_pretrained(
                name,
                id2label=dict(enumerate(tags)),
                label2id={tag: number for number, tag in enumerate(tags)},
                ignore_mismatched_sizes=True,  # it may have been trained for other tags
                dtype=torch.float32,  # mixed precision needs weights in 32 bits
            )
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = [
            n for n in self.model._no_split_modules or () if "Embeddings" not in n
        ]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.model(input_ids=tokens, attention_mask=mask.long()).logits


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The pretrained model, before it is prepared."""
    #: region tags
    tags = tag_names(config)
    #: end tags
    model = Pretrained(config.pretrained_name, tags)
    check_limits(model.model, len(build_tokenizer(config)), config.max_length, "--max-length")
    return model

#: slot parameters with predict
, tags: list[str] | None = None

#: replace tags with predict
tags = tags or tag_names(config)  # those of a run, so that no data is needed
