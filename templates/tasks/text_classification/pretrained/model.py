#: file when model=pretrained
"""The model: token ids and their mask in, an output with `.logits`, (batch, {{ task.width }}), out."""

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification

from data import build_tokenizer
from lib.limits import check_limits


#: slot functions


#: region signature
def build_model(config) -> nn.Module:
    #: end signature
    """The pretrained model with a new layer for {{ task.layer }}, before it is prepared."""
    #: slot saved
    #: region build
    names = class_names(config)
    try:
        model = AutoModelForSequenceClassification.from_pretrained(
            config.pretrained_name,
            id2label=dict(enumerate(names)),
            label2id={name: label for label, name in enumerate(names)},
            #: slot outputs
            ignore_mismatched_sizes=True,  # it may have been trained for other classes
            dtype=torch.float32,  # mixed precision needs weights in 32 bits
        )
    except (OSError, ValueError) as error:
        name = config.pretrained_name
        raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
    #: end build
    tokenizer = build_tokenizer(config)
    check_limits(model, len(tokenizer), config.max_length, "--max-length")
    # a decoder reads the class from the last token that is not padding
    model.config.pad_token_id = tokenizer.pad_token_id
    return model
#: end file

#: replace build when labels=number
name = config.pretrained_name
settings = {"num_labels": 1, "problem_type": "regression", "dtype": torch.float32}
settings["ignore_mismatched_sizes"] = True  # it may have been trained for classes
try:
    model = AutoModelForSequenceClassification.from_pretrained(name, **settings)
except (OSError, ValueError) as error:
    raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
model.config.target_mean, model.config.target_std = fit_scale(config)
