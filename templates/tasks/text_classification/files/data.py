"""The data: batches of token ids and their mask, shape (batch, longest text), and {{ task.labelled }}.

Batches are dictionaries with the argument names of transformers.
"""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

#: region row
Row = tuple[tuple[str, ...], str]  # a text or a pair of texts, and the name of its class
#: end row


#: slot load_splits


#: slot texts


#: slot row_readers


#: slot split_rows


#: region class_names
def class_names(config) -> list[str]:
    """The names of the classes. A label is an index into this list."""
    return sorted({name for part in load_texts(config) for _, name in part})


#: end class_names


#: slot tokenizer


#: region build_datasets
def build_datasets(config) -> list[list[tuple[tuple[str, ...], int]]]:
    """Training, validation and test data: the text of each sample, or a pair, and its label."""
    labels = {name: label for label, name in enumerate(class_names(config))}
    return [[(texts, labels[name]) for texts, name in part] for part in load_texts(config)]


#: end build_datasets


def collate(
    rows: list[tuple[tuple[str, ...], {{ task.label }}]], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> dict[str, Tensor]:
    """A batch of texts, padded to the longest, and their labels."""
    texts, labels = zip(*rows, strict=True)
    return {**tokenize(texts, tokenizer, max_length), "labels": torch.tensor(labels)}


def tokenize(
    texts: Sequence[tuple[str, ...]], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> dict[str, Tensor]:
    """The token ids of texts, or of pairs, and their mask, padded to the longest."""
    #: region columns
    columns = [list(column) for column in zip(*texts, strict=True)]
    #: end columns
    #: region padding
    settings = {"padding": True, "truncation": True, "max_length": max_length}
    #: end padding
    return tokenizer(*columns, return_tensors="pt", **settings)


def count_cut(config) -> int:
    """How many of the first 1,000 training texts fill --max-length."""
    texts = [texts for texts, _ in load_texts(config)[0][:1000]]
    mask = tokenize(texts, build_tokenizer(config), config.max_length)["attention_mask"]
    return int((mask.sum(dim=1) == config.max_length).sum())


#: slot datasets


#: slot build_loaders
