"""The model: token ids and their mask in, one logit for each class out, as `.logits`."""

from torch import nn
from transformers import RobertaConfig, RobertaForSequenceClassification

from data import build_tokenizer, class_names


def build_model(config) -> nn.Module:
    """A small RoBERTa with fresh weights, before it is prepared."""
    tokenizer, names = build_tokenizer(config), class_names(config)
    settings = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=256,
        # RoBERTa counts positions from behind the id of the padding
        max_position_embeddings=config.max_length + tokenizer.pad_token_id + 1,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        id2label=dict(enumerate(names)),
        label2id={name: label for label, name in enumerate(names)},
    )
    return RobertaForSequenceClassification(settings)
