"""The model: tokens in, one logit for each token that can come next out."""

from functools import cache

from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer


class Tokenizer:
    """The tokenizer that the model was trained with. Its end of a text ends a document."""

    def __init__(self, name: str) -> None:
        self.tokenizer = load(AutoTokenizer, name)
        self.end = self.tokenizer.eos_token_id
        if self.end is None:
            raise SystemExit(f"The tokenizer of {name} has no token that ends a text.")

    def encode(self, text: str) -> list[int]:
        # verbose: it warns of texts longer than the model takes, which are cut into blocks here
        return self.tokenizer.encode(text, add_special_tokens=False, verbose=False)

    def decode(self, tokens: list[int]) -> str:
        return self.tokenizer.decode(tokens, skip_special_tokens=True)


class Pretrained(nn.Module):
    """Logits of shape (batch, length, tokens) for tokens of shape (batch, length)."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.model = load(AutoModelForCausalLM, name)
        self.model.config.use_cache = False  # of keys and values, which only generate() reads
        self.context = self.model.config.max_position_embeddings
        # from_pretrained returns models in evaluation mode, without dropout
        self.train()
        #: slot attention
        #: slot layer_classes
        #: slot cuts

    #: region forward
    def forward(self, tokens: Tensor) -> Tensor:
        # no mask: padding stands behind a text, where attention never looks ahead to
        return self.model(input_ids=tokens).logits
        #: end forward


#: slot functions


def load(kind, name: str):
    try:
        return kind.from_pretrained(name)
    except (OSError, ValueError) as error:  # no such model, no network, no causal model
        raise SystemExit(f"--model-name {name} can't be loaded: {error}") from error


@cache
def build_tokenizer(config) -> Tokenizer:
    return Tokenizer(config.model_name)


def build_model(config) -> nn.Module:
    """The model with its pretrained weights, before it is prepared."""
    model = Pretrained(config.model_name)
    if config.context > model.context:
        raise SystemExit(
            f"{config.model_name} takes {model.context} tokens at most: lower --context."
        )
    return model
