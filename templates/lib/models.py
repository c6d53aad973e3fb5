#: into model.py at functions
"""Parts of models, and models of transformers."""

from collections.abc import Collection
from math import log2

import torch.nn.functional as F
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase


def find_start(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """The special tokens that a tokenizer puts before each text, such as <bos> of Gemma."""
    encoded = tokenizer("a", return_special_tokens_mask=True)
    return encoded["input_ids"][: encoded["special_tokens_mask"].index(0)]


def find_end(tokenizer: PreTrainedTokenizerBase, closing: str) -> int | None:
    """The first special token of what a chat template writes after an answer, or None.

    It is not always the end-of-text token, nor in the list of special tokens: <|end|> of Phi-3 is
    only marked as special among all tokens.
    """
    special = {token for token, kind in tokenizer.added_tokens_decoder.items() if kind.special}
    tokens = tokenizer(closing, add_special_tokens=False)["input_ids"]
    return next((token for token in tokens if token in special), None)


def set_ends(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, ends: Collection[int]
) -> None:
    """Write into the settings of model.generate() where a text ends: it sees no template."""
    settings = model.generation_config
    known = settings.eos_token_id
    known = [] if known is None else [known] if isinstance(known, int) else known
    settings.eos_token_id = sorted({*known, *ends})
    if settings.pad_token_id is None:
        settings.pad_token_id = tokenizer.pad_token_id or tokenizer.eos_token_id


def choose_widths(size: int) -> list[int]:
    """The channels at full size, and after each halving until 4 to 7 pixels per side are left."""
    halvings = int(log2(size / 4))
    return [min(16 * 2**number, 128) for number in range(halvings + 1)]


def load(kind, name: str):
    try:
        return kind.from_pretrained(name)
    except (OSError, ValueError) as error:  # no such model, or no network
        raise SystemExit(f"--model-name {name} can't be loaded: {error}") from error


def pool(states: Tensor, mask: Tensor) -> Tensor:
    """The mean over the tokens of each text, as unit vectors, (batch, width).

    `states` have the shape (batch, length, width). Padding does not count.
    """
    mask = mask.unsqueeze(2)
    return F.normalize((states * mask).sum(dim=1) / mask.sum(dim=1), dim=1)
