"""The model: token ids and their mask in, an output with `.logits`, (batch, {{ task.width }}), out."""

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification


#: slot functions


#: region signature
def build_model(config) -> nn.Module:
    #: end signature
    """The pretrained model with a new layer for {{ task.layer }}, before it is prepared."""
    #: slot saved
    #: region build
    names = class_names(config)
    try:
        return AutoModelForSequenceClassification.from_pretrained(
            config.pretrained_name,
            id2label=dict(enumerate(names)),
            label2id={name: label for label, name in enumerate(names)},
            #: slot outputs
            dtype=torch.float32,  # mixed precision needs weights in 32 bits
        )
    except (OSError, ValueError) as error:
        name = config.pretrained_name
        raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
    #: end build
