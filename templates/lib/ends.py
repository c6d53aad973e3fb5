#: into model.py at functions
"""The tokens that begin and end a text, for each tokenizer."""

from transformers import PreTrainedTokenizerBase


def find_start(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """The special tokens that a tokenizer puts before each text, such as <bos> of Gemma: or none."""
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
