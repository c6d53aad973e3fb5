#: file
"""The model: token ids and their mask in, an output with `.logits`, (batch, {{ task.width }}), out."""

from torch import nn

from data import build_tokenizer

#: slot functions


...  #: slot model
#: end file

import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from data import class_names, fit_scale
from lib.limits import check_limits

#: slot model when model=roberta
#: region signature
def build_model(config) -> nn.Module:
    #: end signature
    """A small RoBERTa with random weights, before it is prepared."""
    #: slot saved
    #: region tokenizer
    tokenizer, names = build_tokenizer(config), class_names(config)
    #: end tokenizer
    settings = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=256,
        # the first position of RoBERTa is pad_token_id + 1
        max_position_embeddings=config.max_length + tokenizer.pad_token_id + 1,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        #: region outputs
        id2label=dict(enumerate(names)),
        label2id={name: label for label, name in enumerate(names)},
        #: slot outputs
        #: end outputs
    )
    #: slot after_settings
    return RobertaForSequenceClassification(settings)

#: slot model when model=pretrained
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

#: replace tokenizer when model=roberta labels=number
tokenizer = build_tokenizer(config)

#: replace outputs when model=roberta labels=number
num_labels=1,
problem_type="regression",

#: slot after_settings when model=roberta labels=number
settings.target_mean, settings.target_std = fit_scale(config)

#: replace build when model=pretrained labels=number
name = config.pretrained_name
settings = {"num_labels": 1, "problem_type": "regression", "dtype": torch.float32}
settings["ignore_mismatched_sizes"] = True  # it may have been trained for classes
try:
    model = AutoModelForSequenceClassification.from_pretrained(name, **settings)
except (OSError, ValueError) as error:
    raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
model.config.target_mean, model.config.target_std = fit_scale(config)

#: slot outputs when labels=many
problem_type="multi_label_classification",  # transformers pipelines show all labels

#: slot functions when labels=number
class Scale(nn.Module):
    """Standardizes values with the mean and standard deviation of the training targets.

    Both are in the configuration of the model, so they are saved with it.
    """

    def __init__(self, settings: PreTrainedConfig) -> None:
        super().__init__()
        self.mean, self.std = settings.target_mean, settings.target_std

    def forward(self, numbers: Tensor) -> Tensor:
        return (numbers - self.mean) / self.std

    def restore(self, outputs: Tensor) -> Tensor:
        """The numbers, shape (batch,), for outputs of the model, shape (batch, 1)."""
        return outputs.squeeze(1) * self.std + self.mean

#: replace signature with predict
def build_model(config, saved=None) -> nn.Module:

#: slot saved with predict
if saved:  # written at the end of a run, so that no data is needed
    return AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(saved))
