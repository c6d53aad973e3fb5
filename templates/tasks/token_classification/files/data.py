"""The data: batches of inputs, which are tokens, a mask, and targets, all of shape (batch, length).

A word has one or more tokens. The target of its first token is the index of its tag; those of all
other tokens are IGNORED. The mask is False where a shorter sentence is padded.
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from metrics import IGNORED

Sentence = tuple[list[str], list[str]]  # words, and the tag of each
Sample = tuple[Tensor, Tensor]  # tokens and targets, both of shape (length,)


#: slot load_splits


#: slot load_sentences


#: slot row_readers


#: slot split_rows


def tag_names(config) -> list[str]:
    """The tags. A target is an index into this list.

    O is outside entities. Each type has two tags: B- for the first word, and I- for the rest.
    """
    tags = {tag for part in load_sentences(config) for _, tags in part for tag in tags}
    types = sorted({tag[2:] for tag in tags if tag != "O"})
    return ["O", *(f"{place}-{kind}" for kind in types for place in "BI")]


#: slot tokenizer


@cache
def build_datasets(config) -> list[list[Sample]]:
    """Tokens and targets of each sentence, for training, validation and test."""
    numbers = {name: number for number, name in enumerate(tag_names(config))}
    parts = []
    for sentences in load_sentences(config):
        encoded = encode([words for words, _ in sentences], config)
        samples = []
        for (_, tags), (tokens, starts) in zip(sentences, encoded, strict=True):
            targets = torch.full((len(tokens),), IGNORED)
            for start, tag in zip(starts, tags, strict=False):  # a long sentence is cut
                targets[start] = numbers[tag]
            samples.append((torch.tensor(tokens), targets))
        parts.append(samples)
    return parts


def count_cut(config) -> list[int]:
    """How many words of the training, validation and test data are beyond --max-length."""
    counts = []
    for sentences, samples in zip(load_sentences(config), build_datasets(config), strict=True):
        words = sum(len(words) for words, _ in sentences)
        counts.append(words - sum(int((targets != IGNORED).sum()) for _, targets in samples))
    return counts


def collate(samples: list[Sample]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of tokens, their mask and their targets, padded to the longest sentence."""
    tokens, targets = zip(*samples, strict=True)
    #: region padding
    mask = [torch.ones_like(row, dtype=torch.bool) for row in tokens]
    return (
        pad_sequence(tokens, batch_first=True),
        pad_sequence(mask, batch_first=True),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )
    #: end padding


#: slot datasets


#: slot build_loaders
