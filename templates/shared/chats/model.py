#: file when project.task=sft|dpo|reward_model
"""The model: {{ task.about }} out."""

from torch import Tensor, nn

#: slot blocks


#: slot functions


...  #: slot model
#: end file

from functools import cache

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.limits import check_limits
from lib.models import load
from lib.rotary import Block

#: slot model when model=gpt
ROLES = {"system": 256, "user": 257, "assistant": 258}  # their tokens


class Tokenizer:
    """Each byte of UTF-8 is a token, plus one for each role and one for the end of a message."""

    roles = ROLES
    end, size = 259, 260

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    #: region decode with generates
    def decode(self, tokens: list[int]) -> str:
        """The text of an answer."""
        return bytes(token for token in tokens if token < 256).decode(errors="replace")
    #: end decode

    def show(self, tokens: list[int]) -> str:
        """The text of tokens, with the names of those that are not bytes."""
        names = {token: f"<{role}>" for role, token in self.roles.items()} | {self.end: "<end>"}
        parts = [names[token].encode() if token in names else bytes([token]) for token in tokens]
        return b"".join(parts).decode(errors="replace")


class GPT(nn.Module):
    """{{ task.returns }}.

    A decoder-only transformer as in GPT-2 (Radford et al. 2019), with rotary positions and without
    biases in its linear layers.
    """

    def __init__(
        self, size: int, layers: int, width: int, heads: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        #: region logits
        self.logits = nn.Linear(width, size, bias=False)
        #: end logits
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.5 * width**-0.5)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["Block"]  # FSDP gathers one at a time
        #: end layer_classes

    #: region embed
    def forward(self, tokens: Tensor) -> Tensor:
        positions, mask = torch.arange(tokens.shape[1], device=tokens.device), None
        #: end embed
        pairs = self.blocks[0].head_width // 2
        rates = 10_000.0 ** (-torch.arange(pairs, device=tokens.device) / pairs)
        angles = (positions.unsqueeze(-1) * rates).unsqueeze(-3)  # the same for all heads
        x = self.dropout(self.embedding(tokens))
        for block in self.blocks:
            x = block(x, angles, mask)
        #: region output
        return self.logits(self.norm(x))
        #: end output


def build_tokenizer(config) -> Tokenizer:
    return Tokenizer()


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % (2 * config.heads):
        raise SystemExit(f"--width {config.width} is not a multiple of 2 * --heads {config.heads}.")
    return GPT(build_tokenizer(config).size, config.layers, config.width, config.heads)

#: slot model when model=pretrained
class Tokenizer:
    #: region tokenizer
    """The tokenizer of the pretrained model. Its end-of-text token ends an answer."""
    #: end tokenizer

    def __init__(self, name: str) -> None:
        self.tokenizer = load(AutoTokenizer, name)
        self.end = self.tokenizer.eos_token_id
        if self.end is None:
            raise SystemExit(f"The tokenizer of {name} has no end-of-text token.")
        #: slot padding

    #: region decode with generates
    def decode(self, tokens: list[int]) -> str:
        """The text of an answer."""
        return self.tokenizer.decode(tokens, skip_special_tokens=True).strip()
    #: end decode

    def show(self, tokens: list[int]) -> str:
        """The text of tokens, with special ones."""
        return self.tokenizer.decode(tokens)


class Pretrained(nn.Module):
    """{{ task.returns }}."""

    def __init__(self, name: str) -> None:
        super().__init__()
        # in 16 bits, as many models are stored, small steps would be rounded away
        #: region load
        self.model = load(AutoModelForCausalLM, name).float()
        #: end load
        #: slot attention
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = self.model._no_split_modules  # FSDP gathers one at a time
        #: end layer_classes
        #: slot cuts

    #: region forward
    def forward(self, tokens: Tensor) -> Tensor:
        # no mask: padding comes after a text, and attention never looks ahead
        return self.model(input_ids=tokens, use_cache=False).logits  # it only helps generate()
        #: end forward


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
