#: file when model=pretrained
"""The model: tokens and their mask in, logits of each token's tag out."""

import torch
from torch import Tensor, nn
from transformers import AutoModelForTokenClassification

from data import build_tokenizer, tag_names
from lib.limits import check_limits


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


#: slot functions


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
