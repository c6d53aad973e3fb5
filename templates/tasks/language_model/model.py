#: file
"""The model: tokens in, logits of the next token out."""

from torch import Tensor, nn

#: slot functions


...  #: slot model
#: end file

from typing import ClassVar

from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from tensor_parallel import as_whole
from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from lib.ends import find_start
from lib.models import load
from lib.limits import check_limits

#: slot model when model=gpt
class Tokenizer:
    #: region tokens
    """Each byte of UTF-8 is a token, and one more token ends a document."""

    size, end = 257, 256
    start: ClassVar[list[int]] = [end]  # a document starts with the end token of the one before it
    #: end tokens
    bos: ClassVar[list[int]] = []  # what must be before each part of a text
    name = "bytes"

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def encode_all(self, texts: list[str]) -> list[np.ndarray]:
        return [np.frombuffer(text.encode(), np.uint8) for text in texts]

    def decode(self, tokens: list[int]) -> str:
        return bytes(token for token in tokens if token < 256).decode(errors="replace")


class Block(nn.Module):
    """Causal attention and an MLP, each with pre-norm and a residual connection."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.head_width = width // heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.projection = nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width, bias=False),
            nn.GELU(),
            nn.Linear(4 * width, width, bias=False),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.dropout(self.attend(self.attention_norm(x)))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))

    def attend(self, x: Tensor) -> Tensor:
        # (batch, length, 3 * width) to three of (batch, heads, length, width / heads); the layer
        # keeps the parts of a head together, so that it can be divided between heads
        parts = self.query_key_value(x).unflatten(-1, (-1, 3, self.head_width)).transpose(1, 2)
        query, key, value = parts.unbind(dim=3)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.projection(mixed.transpose(1, 2).flatten(2))


class GPT(nn.Module):
    """Logits of shape (batch, length, tokens) for tokens of shape (batch, length).

    A decoder-only transformer as in GPT-2 (Radford et al. 2019), without biases in its linear
    layers. The embedding and the logits share their weights.
    """

    def __init__(
        self, size: int, context: int, layers: int, width: int, heads: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, width)
        self.positions = nn.Embedding(context, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.5 * width**-0.5)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["Block"]  # FSDP gathers one at a time
        #: end layer_classes
        #: slot cuts

    #: region embed
    def forward(self, tokens: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.dropout(self.embedding(tokens) + self.positions(positions))
        #: end embed
        for block in self.blocks:
            x = block(x)
        #: region logits
        return F.linear(self.norm(x), self.embedding.weight)
        #: end logits


def build_tokenizer(config) -> Tokenizer:
    return Tokenizer()


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % config.heads:
        raise SystemExit(f"--width {config.width} is not a multiple of --heads {config.heads}.")
    size = build_tokenizer(config).size
    return GPT(size, config.context, config.layers, config.width, config.heads)

#: slot model when model=pretrained
#: region marks when fill_in_middle=psm|spm
# as in StarCoder; if your tokenizer has other names for them, change these
MARKS = ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"]  # they mark what is around a middle
#: end marks


class Tokenizer:
    """The tokenizer of the pretrained model. Its end-of-text token ends a document.

    A text starts with `start`: `bos`, the tokens that the model has seen before each text, such as
    <bos> of Gemma, or else the end token of the document before it, as in GPT-2.
    """

    def __init__(self, name: str) -> None:
        self.tokenizer = load(AutoTokenizer, name)
        self.end = self.tokenizer.eos_token_id
        if self.end is None:
            raise SystemExit(f"The tokenizer of {name} has no end-of-text token.")
        self.bos = find_start(self.tokenizer)
        self.start = self.bos or [self.end]
        #: region more_tokens when fill_in_middle=psm|spm
        self.tokenizer.add_tokens(MARKS, special_tokens=True)  # those that are missing
        self.prefix, self.suffix, self.middle = self.tokenizer.convert_tokens_to_ids(MARKS)
        #: end more_tokens

    def encode(self, text: str) -> list[int]:
        # not verbose: it would warn of long texts, which are cut into blocks here
        return self.tokenizer.encode(text, add_special_tokens=False, verbose=False)

    @property
    def name(self) -> str:
        """Which tokens it makes."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        return backend.to_str() if backend else self.tokenizer.name_or_path

    def encode_all(self, texts: list[str]) -> list[np.ndarray]:
        rows = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        kind = np.uint16 if len(self.tokenizer) <= 2**16 else np.uint32  # to need less space
        return [np.array(row, kind) for row in rows]

    def decode(self, tokens: list[int]) -> str:
        return self.tokenizer.decode(tokens, skip_special_tokens=True)


class Pretrained(nn.Module):
    """Logits of shape (batch, length, tokens) for tokens of shape (batch, length)."""

    def __init__(self, name: str) -> None:
        super().__init__()
        # in 16 bits, as many models are stored, small steps would be rounded away
        self.model = load(AutoModelForCausalLM, name).float()
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
    #: region built when fill_in_middle=psm|spm
    size = len(build_tokenizer(config).tokenizer)
    if size > model.model.get_input_embeddings().num_embeddings:  # MARKS are new
        model.model.resize_token_embeddings(size, mean_resizing=False)
    #: end built
    tokens = len(build_tokenizer(config).tokenizer)
    check_limits(model.model, tokens, config.context, "--context")
    return model

#: replace embed when model=gpt with context_parallel
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    if positions is None:  # whole texts
        positions = torch.arange(tokens.shape[1], device=tokens.device)
    x = self.dropout(self.embedding(tokens) + self.positions(positions))

#: slot cuts when model=gpt with tensor_parallel
self.heads = heads
self.cuts = {  # in each pair, split the first layer by outputs, the second by inputs
    "blocks.*.query_key_value": "colwise",
    "blocks.*.projection": "rowwise",
    "blocks.*.mlp.0": "colwise",
    "blocks.*.mlp.2": "rowwise",
}

#: replace logits when model=gpt with tensor_parallel
return F.linear(self.norm(x), as_whole(self.embedding.weight))

#: replace tokens when model=gpt fill_in_middle=psm|spm
"""Each byte of UTF-8 is a token. One more ends a document, and three mark the middle."""

size, end = 260, 256
start: ClassVar[list[int]] = [end]  # a document starts with the end token of the one before it
prefix, suffix, middle = 257, 258, 259

#: slot attention when model=pretrained with context_parallel
check_layers(self.model.config.get_text_config(), name)
self.model.set_attn_implementation("causal")

#: replace forward when model=pretrained with context_parallel
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    # no mask: padding comes after a text, and attention never looks ahead
    return self.model(input_ids=tokens, position_ids=positions, use_cache=False).logits

#: slot functions when model=pretrained with context_parallel
def attend(module, query, key, value, attention_mask, **settings):
    """Causal attention for texts that are split across processes: no mask, no dropout."""
    settings["dropout"] = 0.0
    return sdpa_attention_forward(module, query, key, value, None, **settings)


AttentionInterface.register("causal", attend)


def check_layers(config, name) -> None:
    """Stop if a layer does not attend to all earlier tokens."""
    window = ["sliding_attention"] if getattr(config, "sliding_window", None) else []
    kinds = set(getattr(config, "layer_types", None) or window) - {"full_attention"}
    if kinds:
        raise SystemExit(
            f"--model-name {name} has layers with {', '.join(sorted(kinds))}. Texts can be split "
            "across processes only with full_attention: use another model."
        )

#: slot cuts when model=pretrained with tensor_parallel
text = self.model.config.get_text_config()
self.heads = getattr(text, "num_key_value_heads", text.num_attention_heads)
# how to shard each layer: the plan of the model's authors
self.cuts = {f"model.{name}": cut for name, cut in (self.model.tp_plan or {}).items()}
