"""The model: token ids and their mask in, an output with `.logits`, (batch, classes), out."""

from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from data import build_tokenizer, class_names


def build_model(config, saved=None) -> nn.Module:
    """A small RoBERTa with random weights, before it is prepared."""
    if saved:  # written at the end of a run, so that no data is needed
        return AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(saved))
    tokenizer, names = build_tokenizer(config), class_names(config)
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
        id2label=dict(enumerate(names)),
        label2id={name: label for label, name in enumerate(names)},
    )
    return RobertaForSequenceClassification(settings)
