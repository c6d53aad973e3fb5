#: file
"""The model: tokens, their mask and types in, a score for each choice out."""

import torch
from torch import Tensor, nn

#: slot blocks


#: slot functions


...  #: slot model
#: end file

from transformers import AutoModelForMultipleChoice

from data import build_tokenizer
from lib.limits import check_limits
from lib.rotary import Layers
from lib.tokenizers import PIECES

#: slot model when model=encoder
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
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["Block"]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.types(types)
        # a padded choice has no token, and attention needs one
        mask = mask | (torch.arange(mask.shape[2], device=mask.device) == 0)
        x = self.layers(x.flatten(0, 1), mask.flatten(0, 1))
        return self.score(x[:, 0]).view(tokens.shape[:2])


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return Encoder(config.layers, config.width, config.dropout)

#: slot model when model=pretrained
class Pretrained(nn.Module):
    """Scores of shape (batch, choices) for tokens, mask and types, (batch, choices, length).

    The pretrained model has a new layer for the score.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        try:
            self.model = AutoModelForMultipleChoice.from_pretrained(
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
        # a padded choice has no token, and attention needs one
        mask = mask | (torch.arange(mask.shape[2], device=mask.device) == 0)
        return self.model(input_ids=tokens, attention_mask=mask.long(), **more).logits


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = Pretrained(config.pretrained_name)
    check_limits(model.model, len(build_tokenizer(config)), config.max_length, "--max-length")
    return model
