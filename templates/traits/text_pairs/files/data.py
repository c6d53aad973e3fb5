"""The data: batches of tokens, their mask, and the numbers of texts.

A sample is a row of texts: an anchor, a positive that belongs to it, and in triplets a negative
that does not. Tokens and mask have the shape (batch, texts, length). The mask is False where a
shorter text is padded. Equal texts have the same number: numbers have the shape (batch, texts).
"""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

Row = tuple[str, ...]  # an anchor, its positive, and maybe a negative
Sample = tuple[Row, tuple[int, ...]]  # the texts of a row, and their numbers


#: slot load_splits


#: slot load_rows


#: slot read_rows


#: slot row_readers


#: slot check_row


#: slot split_rows


@cache
def number_texts(config) -> dict[str, int]:
    """The number of each text of all parts."""
    texts = (text for part in load_rows(config) for row in part for text in row)
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}


@cache
def build_datasets(config) -> list[list[Sample]]:
    """The rows for training, validation and test, each with the numbers of its texts."""
    numbers = number_texts(config)
    parts = load_rows(config)
    return [[(row, tuple(numbers[text] for text in row)) for row in part] for part in parts]


#: slot tokenizer


#: slot tokenize


def collate(samples: list[Sample], config) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of tokens, their mask, and the numbers of the texts."""
    rows, numbers = zip(*samples, strict=True)
    tokens, mask = tokenize([text for row in rows for text in row], config)
    shape = (len(rows), len(rows[0]))
    return tokens.unflatten(0, shape), mask.unflatten(0, shape), torch.tensor(numbers)


def count_cut(config) -> int:
    """How many texts of the first 1,000 training rows fill --max-length."""
    texts = [text for row in load_rows(config)[0][:1000] for text in row]
    _, mask = tokenize(texts, config)
    return int((mask.sum(dim=1) == config.max_length).sum())


#: slot datasets


#: slot build_loaders
