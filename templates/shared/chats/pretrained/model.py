#: file when project.task=sft|dpo model=pretrained
"""The model: tokens in, logits of the next token out."""

from functools import cache

from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.limits import check_limits
from lib.pretrained import load


class Tokenizer:
    """The tokenizer of the pretrained model. Its end-of-text token ends an answer."""

    def __init__(self, name: str) -> None:
        self.tokenizer = load(AutoTokenizer, name)
        self.end = self.tokenizer.eos_token_id
        if self.end is None:
            raise SystemExit(f"The tokenizer of {name} has no end-of-text token.")

    def decode(self, tokens: list[int]) -> str:
        """The text of an answer."""
        return self.tokenizer.decode(tokens, skip_special_tokens=True).strip()

    def show(self, tokens: list[int]) -> str:
        """The text of tokens, with special ones."""
        return self.tokenizer.decode(tokens)


class Pretrained(nn.Module):
    """Logits of shape (batch, length, tokens) for tokens of shape (batch, length)."""

    def __init__(self, name: str) -> None:
        super().__init__()
        # in 16 bits, as many models are stored, small steps would be rounded away
        self.model = load(AutoModelForCausalLM, name).float()
        self.model.config.use_cache = False  # it only helps generate()
        #: slot attention
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = self.model._no_split_modules  # FSDP gathers one at a time
        #: end layer_classes
        #: slot cuts

    #: region forward
    def forward(self, tokens: Tensor) -> Tensor:
        # no mask: padding comes after a text, and attention never looks ahead
        return self.model(input_ids=tokens).logits
        #: end forward


#: slot functions


@cache
def build_tokenizer(config) -> Tokenizer:
    return Tokenizer(config.model_name)


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = Pretrained(config.model_name)
    tokens = len(build_tokenizer(config).tokenizer)
    check_limits(model.model, tokens, config.context, "--context")
    #: slot checks
    return model
