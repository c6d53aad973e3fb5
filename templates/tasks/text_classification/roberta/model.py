#: file when model=roberta
"""The model: token ids and their mask in, an output with `.logits`, (batch, {{ task.width }}), out."""

from torch import nn
from transformers import RobertaConfig, RobertaForSequenceClassification

from data import build_tokenizer


#: slot functions


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
#: end file

#: replace tokenizer when labels=number
tokenizer = build_tokenizer(config)

#: replace outputs when labels=number
num_labels=1,
problem_type="regression",

#: slot after_settings when labels=number
settings.target_mean, settings.target_std = fit_scale(config)
