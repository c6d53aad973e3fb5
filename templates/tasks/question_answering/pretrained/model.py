#: file when model=pretrained
"""The model: tokens, their mask and types in, logits of an answer's first and last token out."""

import torch
from torch import Tensor, nn
from transformers import AutoModelForQuestionAnswering

from data import build_tokenizer
from lib.limits import check_limits


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


#: slot functions


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = Pretrained(config.pretrained_name)
    check_limits(model.model, len(build_tokenizer(config)), config.max_length, "--max-length")
    return model
