#: into model.py at functions
"""The tokens that begin and end a text, for each tokenizer."""

from collections.abc import Collection

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
