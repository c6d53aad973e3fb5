"""The data: batches of tokens, their mask and types, and labels.

Tokens, mask and types have the shape (batch, choices, length): in each row, a text and a choice
that may follow it. A type is 1 for tokens of the choice, else 0. The mask is False where a row is
padded, and in all rows that pad a sample with fewer choices. Labels, (batch,), are the indices
of the right choices.
"""

from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor


@dataclass(frozen=True)
class Question:
    """A text, and what may follow it."""

    context: str
    choices: tuple[str, ...]
    label: int = -1  # the index of the right choice; -1: unknown


class Sample(NamedTuple):
    """The tokens of each choice, after those of the text, and the index of the right choice."""

    choices: list[tuple[Tensor, int]]  # tokens, (length,), and the first one of the choice
    label: int


def read_question(row: dict, place: str) -> Question:
    """A row with `context` and `choices`, or with the columns of SWAG. `place` is for errors.

    SWAG has `sent1`, the beginning of the next sentence in `sent2`, and `ending0`, `ending1` and so
    on (Zellers et al. 2018, https://arxiv.org/abs/1808.05326). Empty endings at the end don't
    count.
    """
    if "choices" in row:
        context, choices = row.get("context"), row["choices"]
    elif "ending0" in row:
        start = row.get("sent2") or ""
        endings = [row[f"ending{n}"] or "" for n in range(len(row)) if f"ending{n}" in row]
        while endings and endings[-1] == "":
            endings.pop()
        context = row.get("sent1")
        choices = [f"{start} {ending}".strip() if ending else "" for ending in endings]
    else:
        raise SystemExit(
            f"{place}: there are no 'choices' and no 'ending0' in {', '.join(map(str, row))}."
        )
    if not isinstance(context, str) or not context.strip():
        raise SystemExit(f"{place}: its context (or sent1) is not text, but {context!r:.60}.")
    if not isinstance(choices, (list, tuple)) or len(choices) < 2:
        raise SystemExit(f"{place}: it needs two choices or more, and has {choices!r:.60}.")
    for number, choice in enumerate(choices):
        if not isinstance(choice, str) or not choice.strip():
            raise SystemExit(f"{place}: choice {number} is not text, but {choice!r:.60}.")
    return Question(context, tuple(choices), read_label(row.get("label"), len(choices), place))


def read_label(given, choices: int, place: str) -> int:
    """The index of the right choice, or -1 if there is none."""
    if given in (None, "", -1, "-1"):
        return -1
    if isinstance(given, bool) or str(given) not in map(str, range(choices)):
        raise SystemExit(f"{place}: its label is {given!r:.60}, not one of 0 to {choices - 1}.")
    return int(given)


#: slot load_splits


#: slot load_questions


#: slot row_readers


#: slot split_rows


#: slot tokenizer


#: slot shorten


def encode_questions(questions: list[Question], config) -> list[Sample]:
    """The tokens of each question, at most `max_length` for each choice."""
    pairs = [(question.context, choice) for question in questions for choice in question.choices]
    encoded = ((torch.tensor(tokens), first) for tokens, first in encode(pairs, config))
    return [
        Sample(list(islice(encoded, len(question.choices))), question.label)
        for question in questions
    ]


@cache
def build_datasets(config) -> list[list[Sample]]:
    """The samples for training, validation and test."""
    return [encode_questions(questions, config) for questions in load_questions(config)]


def count_cut(config) -> list[int]:
    """How many choices of the training, validation and test data fill --max-length."""
    return [
        sum(len(tokens) >= config.max_length for sample in samples for tokens, _ in sample.choices)
        for samples in build_datasets(config)
    ]


def collate(samples: list[Sample]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch, padded to the largest number of choices and to the longest choice."""
    most = max(len(sample.choices) for sample in samples)
    longest = max(len(tokens) for sample in samples for tokens, _ in sample.choices)
    #: slot longest
    tokens = torch.zeros(len(samples), most, longest, dtype=torch.long)
    mask, types = torch.zeros_like(tokens, dtype=torch.bool), torch.zeros_like(tokens)
    for row, sample in enumerate(samples):
        for column, (choice, first) in enumerate(sample.choices):
            tokens[row, column, : len(choice)] = choice
            mask[row, column, : len(choice)] = True
            types[row, column, first : len(choice)] = 1
    return tokens, mask, types, torch.tensor([sample.label for sample in samples])


#: slot datasets


#: slot build_loaders
