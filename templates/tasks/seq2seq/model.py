#: file
"""The model: a source and the start of its target in, logits of the next token out."""

import torch
from torch import Tensor, nn

#: slot functions


...  #: slot model
#: end file

import math
import sys
from functools import cache

from accelerate import PartialState
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

from lib.limits import check_limits
from lib.models import load

#: slot model when model=transformer
# each byte of UTF-8 is a token, and there are three more
PADDING, START, END = 256, 257, 258
SIZE = 259


class Seq2Seq(nn.Module):
    """Logits of shape (batch, length, tokens) for inputs of shape (batch, length).

    An encoder and a decoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762) with
    pre-norm. At each position the decoder sees the whole source and earlier inputs.
    """

    def __init__(self, width: int, layers: int, dropout: float, heads: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SIZE, width)
        # the default of 1.0 would drown out the sinusoidal positions
        nn.init.normal_(self.embedding.weight, std=0.3)
        settings = {"nhead": heads, "dim_feedforward": 4 * width, "dropout": dropout}
        settings |= {"batch_first": True, "norm_first": True}
        # a custom encoder, because the default one warns that norm_first disables nested tensors
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(width, **settings),
            layers,
            nn.LayerNorm(width),
            enable_nested_tensor=False,
        )
        self.transformer = nn.Transformer(
            width, num_decoder_layers=layers, custom_encoder=encoder, **settings
        )
        self.logits = nn.Linear(width, SIZE)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = [
            "TransformerEncoderLayer",
            "TransformerDecoderLayer",
        ]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, sources: Tensor, inputs: Tensor) -> Tensor:
        return self.decode(self.encode(sources), sources, inputs)

    def encode(self, sources: Tensor) -> Tensor:
        """The encoded sources, shape (batch, length, width)."""
        padding = sources == PADDING
        return self.transformer.encoder(self.embed(sources), src_key_padding_mask=padding)

    def decode(self, encoded: Tensor, sources: Tensor, inputs: Tensor) -> Tensor:
        """Logits of the token after each input. `sources` tells where `encoded` is padding."""
        length = inputs.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=inputs.device).triu(1)
        decoded = self.transformer.decoder(
            self.embed(inputs),
            encoded,
            tgt_mask=later,
            tgt_is_causal=True,
            memory_key_padding_mask=sources == PADDING,
        )
        return self.logits(decoded)

    def embed(self, tokens: Tensor) -> Tensor:
        """Token embeddings plus sinusoidal position embeddings."""
        x = self.embedding(tokens)
        width = x.shape[-1]
        positions = torch.arange(tokens.shape[1], device=x.device).unsqueeze(1)
        exponents = torch.arange(0, width, 2, device=x.device) * (-math.log(10_000) / width)
        angles = positions * exponents.exp()
        return x + torch.cat([angles.sin(), angles.cos()], dim=1)

    def generate(self, sources: Tensor, length: int) -> Tensor:
        """Greedy decoding of `length` tokens for each source: (batch, length)."""
        encoded = self.encode(sources)
        tokens = torch.full((len(sources), 1), START, device=sources.device)
        for _ in range(length):
            logits = self.decode(encoded, sources, tokens)[:, -1]
            tokens = torch.cat([tokens, logits.argmax(dim=-1, keepdim=True)], dim=1)
        return tokens[:, 1:]


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return Seq2Seq(config.width, config.layers, config.dropout)

#: slot model when model=pretrained
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
