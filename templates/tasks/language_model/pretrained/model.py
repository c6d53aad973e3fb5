#: file when model=pretrained
"""The model: tokens in, logits of the next token out."""

from functools import cache

from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.limits import check_limits
from lib.pretrained import load


#: region marks when fill_in_middle=psm|spm
# as in StarCoder; if your tokenizer has other names for them, change these
MARKS = ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"]  # they mark what is around a middle
#: end marks


class Tokenizer:
    """The tokenizer of the pretrained model. Its end-of-text token ends a document."""

    def __init__(self, name: str) -> None:
        self.tokenizer = load(AutoTokenizer, name)
        self.end = self.tokenizer.eos_token_id
        if self.end is None:
            raise SystemExit(f"The tokenizer of {name} has no end-of-text token.")
        #: region more_tokens when fill_in_middle=psm|spm
        self.tokenizer.add_tokens(MARKS, special_tokens=True)  # those that are missing
        self.prefix, self.suffix, self.middle = self.tokenizer.convert_tokens_to_ids(MARKS)
        #: end more_tokens

    def encode(self, text: str) -> list[int]:
        # not verbose: it would warn of long texts, which are cut into blocks here
        return self.tokenizer.encode(text, add_special_tokens=False, verbose=False)

    def decode(self, tokens: list[int]) -> str:
        return self.tokenizer.decode(tokens, skip_special_tokens=True)


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
    #: region built when fill_in_middle=psm|spm
    size = len(build_tokenizer(config).tokenizer)
    if size > model.model.get_input_embeddings().num_embeddings:  # MARKS are new
        model.model.resize_token_embeddings(size, mean_resizing=False)
    #: end built
    tokens = len(build_tokenizer(config).tokenizer)
    check_limits(model.model, tokens, config.context, "--context")
    return model
#: end file

from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

#: slot attention with context_parallel
check_layers(self.model.config.get_text_config(), name)
self.model.set_attn_implementation("causal")

#: replace forward with context_parallel
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    # no mask: padding comes after a text, and attention never looks ahead
    return self.model(input_ids=tokens, position_ids=positions).logits

#: slot functions with context_parallel
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

#: slot cuts with tensor_parallel
text = self.model.config.get_text_config()
self.heads = getattr(text, "num_key_value_heads", text.num_attention_heads)
# how to shard each layer: the plan of the model's authors
self.cuts = {f"model.{name}": cut for name, cut in (self.model.tp_plan or {}).items()}
