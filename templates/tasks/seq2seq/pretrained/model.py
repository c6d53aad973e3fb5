#: file when model=pretrained
"""The model: a source and the start of its target in, logits of the next token out."""

import sys
from functools import cache

import torch
from accelerate import PartialState
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

from lib.limits import check_limits
from lib.pretrained import load


class Tokenizer:
    """The tokenizer of the pretrained model, and the tokens that start and pad a target."""

    def __init__(self, config) -> None:
        self.config, name = config, config.model_name
        self.tokenizer = load(AutoTokenizer, name)
        self.padding = self.tokenizer.pad_token_id
        self.start = getattr(load(AutoConfig, name), "decoder_start_token_id", None)
        if self.start is None or self.padding is None:
            raise SystemExit(f"{name} has no token that starts or pads a target.")

    def encode_sources(self, texts: list[str]) -> list[Tensor]:
        """The tokens of sources, each after --source-prefix."""
        prefixed = [self.config.source_prefix + text for text in texts]
        return self.encode("text", prefixed, self.config.max_source_length)

    def encode_targets(self, texts: list[str]) -> list[Tensor]:
        return self.encode("text_target", texts, self.config.max_target_length)

    def encode(self, kind: str, texts: list[str], length: int) -> list[Tensor]:
        """The tokens of texts. Prints how many are cut to `length`."""
        rows = self.tokenizer(**{kind: texts}, truncation=True, max_length=length)["input_ids"]
        full = [text for text, row in zip(texts, rows, strict=True) if len(row) == length]
        whole = self.tokenizer(**{kind: full}, verbose=False)["input_ids"] if full else []
        cut = sum(len(row) > length for row in whole)
        if cut and PartialState().is_main_process:  # predict.py writes predictions to stdout
            print(f"{cut} of {len(texts)} texts are cut to {length} tokens", file=sys.stderr)
        return [torch.tensor(row) for row in rows]

    def decode(self, tokens: Tensor) -> list[str]:
        """The texts of rows of tokens, without special tokens."""
        tokens = tokens.where(tokens >= 0, self.padding)  # IGNORED is below 0
        return self.tokenizer.batch_decode(tokens, skip_special_tokens=True)


class Pretrained(nn.Module):
    """Logits of shape (batch, length, tokens) for inputs of shape (batch, length)."""

    def __init__(self, config) -> None:
        super().__init__()
        # in 16 bits, as some models are stored, small steps would be rounded away
        self.model = load(AutoModelForSeq2SeqLM, config.model_name).float()
        self.tokenizer = build_tokenizer(config)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = self.model._no_split_modules  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, sources: Tensor, inputs: Tensor) -> Tensor:
        return self.model(
            input_ids=sources,
            attention_mask=(sources != self.tokenizer.padding).long(),
            decoder_input_ids=inputs,
            use_cache=False,  # it only helps generate()
        ).logits

    def generate(self, sources: Tensor, length: int, **settings) -> Tensor:
        """Greedy decoding of up to `length` tokens for each source."""
        mask = (sources != self.tokenizer.padding).long()
        settings |= {"max_new_tokens": length, "do_sample": False, "num_beams": 1}
        return self.model.generate(sources, attention_mask=mask, **settings)[:, 1:]

    #: region write when text_metric=rouge|bleu
    def write(self, sources: Tensor, **settings) -> list[str]:
        """The text for each source, of at most --max-target-length tokens."""
        length = self.tokenizer.config.max_target_length
        return self.tokenizer.decode(self.generate(sources, length, **settings))
    #: end write


#: slot functions


@cache
def build_tokenizer(config) -> Tokenizer:
    return Tokenizer(config)


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = Pretrained(config)
    tokens = len(model.tokenizer.tokenizer)
    check_limits(model.model, tokens, config.max_source_length, "--max-source-length")
    check_limits(model.model, tokens, config.max_target_length, "--max-target-length")
    return model
