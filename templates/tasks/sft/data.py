#: file
"""The data: batches of inputs and targets, tokens of shape (batch, length).

A sample is a conversation. The target of each token is the token after it, but only those of the
assistant's answers count: the model learns to write these, not the questions. All others are
IGNORED, and so is the padding of conversations that are shorter than the longest of their batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from metrics import IGNORED
from model import build_tokenizer
from accelerate import PartialState
from lib.padding import pad

Messages = list[dict[str, str]]  # each with a `role`, such as user or assistant, and a `content`
Sample = tuple[Tensor, ...]  # model inputs and targets, each of shape (length,)


@dataclass(frozen=True)
class Conversation:
    messages: Messages
    place: str  # where it was found, for error messages


#: slot row_readers


#: slot read_conversations


#: region row_reader
def read_messages(row: dict, place: str) -> Messages:
    """The `messages` of a row, or its `prompt` and `completion`: texts, or lists of messages."""
    if "messages" in row:
        messages = row["messages"]
    elif {"prompt", "completion"} <= row.keys():
        messages = []
        for role, given in (("user", row["prompt"]), ("assistant", row["completion"])):
            messages += given if isinstance(given, list) else [{"role": role, "content": given}]
    else:
        raise SystemExit(
            f"{place} has {', '.join(row) or 'nothing'}: "
            "it needs messages, or prompt and completion."
        )
    if not isinstance(messages, list) or not messages:
        raise SystemExit(f"{place}: messages is not a list, or is empty.")
    for number, message in enumerate(messages, start=1):
        texts = isinstance(message, dict) and [message.get(name) for name in ("role", "content")]
        if not texts or not all(isinstance(text, str) for text in texts):
            raise SystemExit(f"{place}: message {number} needs a role and a content, both texts.")
    return messages
#: end row_reader


#: slot encode


class Conversations(Dataset):
    """Conversations as samples of up to `context` inputs. Longer ones are cut at the end."""

    def __init__(self, conversations: list[Conversation], config) -> None:
        self.samples: list[Sample] = []
        cut = left_out = 0
        for conversation in conversations:
            try:
                tokens, counts = map(torch.tensor, encode_chat(conversation.messages, config))
            except ValueError as error:
                raise SystemExit(f"{conversation.place}: {error}") from error
            if not counts.any():
                raise SystemExit(f"{conversation.place} has no assistant message.")
            cut += max(0, len(tokens) - config.context - 1)
            targets = tokens.where(counts, IGNORED)[1 : config.context + 1]
            if (targets != IGNORED).any():
                inputs = tokens[: len(targets)]
                #: region sample
                self.samples.append((inputs, targets))
                #: end sample
            else:
                left_out += 1
        if not self.samples:
            raise SystemExit(f"No answer begins within --context {config.context}: make it larger.")
        if cut or left_out:
            PartialState().print(
                f"{len(conversations)} conversations: {cut} tokens beyond --context "
                f"{config.context} are cut off. {left_out} without an answer are left out."
            )

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


#: slot show


#: region collate
def collate(samples: list[Sample]) -> tuple[Tensor, Tensor]:
    """A batch of inputs and targets, padded to the longest sample."""
    inputs, targets = zip(*samples, strict=True)
    return pad(inputs, 0), pad(targets, IGNORED)


#: end collate


#: slot load_splits


def build_datasets(config) -> list[Dataset]:
    """Conversations for training, validation and test."""
    ...  #: slot split


#: slot datasets


#: slot build_loaders
#: end file

import random
from bisect import bisect_left, insort

from torch.utils.data import random_split

from lib.chats import write_question
from lib.hub import complete_splits, load_splits
from lib.json_lines import read_objects

#: slot read_conversations when dataset=rules
def write_conversations() -> list[Conversation]:
    """Made-up conversations of one or two questions. No question occurs twice."""
    rng = random.Random(0)
    questions = list(dict.fromkeys(write_question(rng) for _ in range(6_000)))
    conversations = []
    while len(questions) > 1:
        messages = []
        for _ in range(rng.choice([1, 2])):
            question, answer = questions.pop()
            messages += [{"role": "user", "content": question}]
            messages += [{"role": "assistant", "content": answer}]
        conversations.append(Conversation(messages, f"conversation {len(conversations) + 1}"))
    return conversations

#: slot split when dataset=rules
# a fixed seed: another --seed must not move test samples into the training data
split = torch.Generator().manual_seed(0)
conversations = Conversations(write_conversations(), config)
return random_split(conversations, [0.8, 0.1, 0.1], generator=split)

#: slot read_conversations when dataset=jsonl
def read_conversations(path: str) -> list[Conversation]:
    """The conversations of a file: a JSON object in each line."""
    found = [Conversation(read_messages(row, place), place) for place, row in read_objects(path)]
    if not found:
        raise SystemExit(f"{path} has no conversations.")
    return found

#: slot split when dataset=jsonl
files = [config.val_path, config.test_path]
shares = [0.0 if path else 0.1 for path in files]
samples = Conversations(read_conversations(config.path), config)
if len(samples) < 10 and sum(shares):
    raise SystemExit(
        f"{config.path} has {len(samples)} conversations with an answer within --context "
        f"{config.context}: a split needs at least 10."
    )
# a fixed seed: another --seed must not move test samples into the training data
rng = torch.Generator().manual_seed(0)
parts = random_split(samples, [1 - sum(shares), *shares], generator=rng)
# a split with its own file gets no share of the rows
return [
    Conversations(read_conversations(path), config) if path else part
    for path, part in zip(["", *files], parts, strict=True)
]

#: slot split when dataset=huggingface
splits = complete_splits(load_splits(config))
return [
    Conversations(
        [
            Conversation(read_messages(row, place), place)
            for number, row in enumerate(splits[name], start=1)
            for place in [f"{config.dataset_name}, row {number} of {name}"]
        ],
        config,
    )
    for name in ("train", "validation", "test")
]

#: replace sample when packing=best_fit
self.samples.append((inputs, torch.arange(len(inputs)), targets))

#: replace collate when packing=best_fit
def collate(samples: list[Sample]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of inputs, positions and targets, padded to the longest sample.

    Each text has its own positions. A position of 0 begins a text, so padding is a text by itself.
    """
    inputs, positions, targets = zip(*samples, strict=True)
    return pad(inputs, 0), pad(positions, 0), pad(targets, IGNORED)

#: slot datasets when packing=best_fit
class Packed(Dataset):
    """Rows of whole samples, one after the other, of up to `context` tokens.

    Best fit: sort by length, longest first, and put each sample into the fullest row it fits in.
    """

    def __init__(self, samples: Dataset, config) -> None:
        self.samples, self.rows = samples, []
        lengths = [len(samples[index][0]) for index in range(len(samples))]
        rooms: list[tuple[int, int]] = []  # (free tokens, row), sorted by free tokens
        for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
            found = bisect_left(rooms, (lengths[index], 0))
            if found == len(rooms):
                rooms.append((config.context, len(self.rows)))
                self.rows.append([])
            room, row = rooms.pop(found)
            self.rows[row].append(index)
            insort(rooms, (room - lengths[index], row))
        packed = [sum(lengths[index] for index in row) for row in self.rows]
        counts = [count_padding(texts, config.batch_size) for texts in (packed, lengths)]
        PartialState().print(
            f"{len(lengths)} conversations are packed into {len(packed)} rows. "
            f"{counts[0]} tokens are padding; without packing, about {counts[1]} would be."
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Sample:
        parts = [self.samples[index] for index in self.rows[index]]
        return tuple(torch.cat(part) for part in zip(*parts, strict=True))


def count_padding(lengths: list[int], batch_size: int) -> int:
    """The number of padding tokens of batches in this order."""
    batches = [lengths[start : start + batch_size] for start in range(0, len(lengths), batch_size)]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)

#: slot before_loaders when packing=best_fit
train_set = Packed(train_set, config)

#: replace row_reader when dataset=rules project.loop=minimal
