"""The model: tokens and their mask in, logits of each token's tag out."""

import torch
from torch import Tensor, nn
from transformers import AutoModelForTokenClassification

from data import tag_names


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
        #: slot layer_classes

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
    positions = getattr(model.model.config, "max_position_embeddings", None)
    if positions and config.max_length > (limit := find_limit(model, positions)):
        name = config.pretrained_name
        raise SystemExit(f"{name} takes at most {limit} tokens: lower --max-length.")
    return model
