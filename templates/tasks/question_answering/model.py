#: file
"""The model: tokens, their mask and types in, logits of an answer's first and last token out."""

import torch
from torch import Tensor, nn

#: slot functions


...  #: slot model
#: end file

import math

from transformers import AutoModelForQuestionAnswering

from data import build_tokenizer
from lib.limits import check_limits
from lib.tokenizers import PIECES

#: slot model when model=encoder
class Encoder(nn.Module):
    """Logits of shape (batch, length, 2) for tokens, mask and types of shape (batch, length).

    A pre-norm transformer encoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762). Each
    token sees the whole window, but no padding. It knows
    whether the token is also in the question: Chen et al. 2017, https://arxiv.org/abs/1704.00051
    """

    def __init__(self, width: int, layers: int, dropout: float, heads: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(PIECES, width)
        # the default of 1.0 would drown out the sinusoidal positions
        nn.init.normal_(self.embedding.weight, std=0.3)
        self.types = nn.Embedding(3, width)  # of the question, of the text, and of both
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout, batch_first=True, norm_first=True
        )
        # the default warns that norm_first disables nested tensors
        norm = nn.LayerNorm(width)
        self.encoder = nn.TransformerEncoder(layer, layers, norm, enable_nested_tensor=False)
        self.logits = nn.Linear(width, 2)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["TransformerEncoderLayer"]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        asked = (mask & (types == 0)).unsqueeze(1)
        same = ((tokens.unsqueeze(2) == tokens.unsqueeze(1)) & asked).any(dim=2)
        x = self.embed(tokens) + self.types(types + (types * same))
        return self.logits(self.encoder(x, src_key_padding_mask=~mask))

    def embed(self, tokens: Tensor) -> Tensor:
        """Token embeddings plus sinusoidal position embeddings."""
        x = self.embedding(tokens)
        width = x.shape[-1]
        positions = torch.arange(tokens.shape[1], device=x.device).unsqueeze(1)
        exponents = torch.arange(0, width, 2, device=x.device) * (-math.log(10_000) / width)
        angles = positions * exponents.exp()
        return x + torch.cat([angles.sin(), angles.cos()], dim=1)


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % 4:
        raise SystemExit(f"--width {config.width} is not a multiple of 4, the number of heads.")
    return Encoder(config.width, config.layers, config.dropout)

#: slot model when model=pretrained
class Pretrained(nn.Module):
    """Logits of shape (batch, length, 2) for tokens, mask and types of shape (batch, length).

    The pretrained model has a new layer for the first and the last token.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        try:
            self.model = AutoModelForQuestionAnswering.from_pretrained(
                name,
                dtype=torch.float32,  # mixed precision needs weights in 32 bits
            )
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
        # models with a single type, such as RoBERTa, separate the texts by the tokens between them
        self.takes_types = getattr(self.model.config, "type_vocab_size", 1) > 1
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = [
            n for n in self.model._no_split_modules or () if "Embeddings" not in n
        ]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        more = {"token_type_ids": types} if self.takes_types else {}
        outputs = self.model(input_ids=tokens, attention_mask=mask.long(), **more)
        return torch.stack([outputs.start_logits, outputs.end_logits], dim=2)


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = Pretrained(config.pretrained_name)
    check_limits(model.model, len(build_tokenizer(config)), config.max_length, "--max-length")
    return model
