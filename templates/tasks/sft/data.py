#: file
"""The data: batches of inputs and targets, tokens of shape (batch, length).

A sample is a conversation. The target of each token is the token after it, but only those of the
assistant's answers count: the model learns to write these, not the questions. All others are
IGNORED, and so is the padding of conversations that are shorter than the longest of their batch.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from metrics import IGNORED
from model import build_tokenizer
from accelerate import PartialState
from lib.conversations import Conversation, Messages, split_thoughts
from lib.samples import pad

Sample = tuple[Tensor, ...]  # model inputs and targets, each of shape (length,)


#: slot row_readers


#: slot read_conversations


#: region row_reader
# what a row has: these keys, and others that it may have
FORMS = [
    (("messages",), ()),
    (("conversations",), ()),  # ShareGPT
    (("prompt", "completion"), ()),
    (("instruction", "output"), ("input", "history")),  # Alpaca
]


def find_form(row: dict, place: str) -> tuple[str, ...]:
    """The keys of a row that hold its conversation."""
    given = {name for name, value in row.items() if value is not None}  # Parquet has all columns
    for names in (given, row.keys()):
        for keys, others in FORMS:
            if names >= {*keys}:
                return keys + others
    raise SystemExit(
        f"{place} has {', '.join(row) or 'nothing'}: it needs messages, or prompt and completion. "
        "If they have other names, set --rename, such as question=prompt,reply=completion."
    )


def read_messages(row: dict, place: str) -> Messages:
    """The `messages` of a row, or its `prompt` and `completion`: texts, or lists of messages.

    Also rows of ShareGPT and Alpaca. In the latter, instruction and input are one message of two
    lines, as in LLaMA-Factory.
    """
    keys = find_form(row, place)
    if keys[0] == "instruction":
        asked = [part for part in (row["instruction"], row.get("input")) if part]
        earlier = row.get("history") or []
        if not all(isinstance(part, str) for part in asked):
            raise SystemExit(f"{place}: its instruction and its input must be texts.")
        if not isinstance(earlier, list) or not all(isinstance(pair, list) for pair in earlier):
            raise SystemExit(f"{place}: its history must be a list of pairs of texts.")
        turns = [*(turn for pair in earlier for turn in pair), "\n".join(asked), row["output"]]
    else:
        turns = [row[key] for key in keys]
    if len(keys) == 1 and not isinstance(turns[0], list):
        raise SystemExit(f"{place}: {keys[0]} is not a list, or is empty.")
    messages = read_turns(turns, place)
    if not messages:
        raise SystemExit(f"{place}: {keys[0]} is not a list, or is empty.")
    return add_system(messages, row, place)
#: end row_reader

#: slot read_rows


#: slot encode


class Conversations(Dataset):
    """Conversations as samples of up to `context` inputs. Longer ones are cut at the end."""

    def __init__(self, conversations: list[Conversation], config) -> None:
        self.samples: list[Sample] = []
        cut = left_out = 0
        parts = [(one, part) for one in conversations for part in split_thoughts(one.messages)]
        for conversation, messages in parts:
            try:
                tokens, counts = encode_chat(messages, config, conversation.settings)
            except ValueError as error:
                raise SystemExit(f"{conversation.place}: {error}") from error
            if not any(counts):
                weights = " with a weight" if "weight" in str(messages) else ""
                raise SystemExit(f"{conversation.place} has no assistant message{weights}.")
            tokens, counts = torch.tensor(tokens), torch.tensor(counts)
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
            raise SystemExit(
                f"{conversations[0].place}: the answer begins after --context {config.context}, as "
                f"in all {left_out} conversations: make it larger."
            )
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
from lib.conversations import SETTINGS, add_system, read_extras, read_turns
from lib.hub import load_splits
from lib.json_lines import drop_nulls, read_objects
from lib.notes import note_ignored, rename_keys
from lib.splits import complete_parts

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

#: slot read_rows when dataset=jsonl|huggingface
def read_conversation(row: dict, place: str) -> Conversation:
    """The conversation of a row, and what it has for the chat template."""
    return Conversation(read_messages(row, place), place, read_extras(row, place))


def read_conversations(rows: list[tuple[str, dict]], source: str, config) -> list[Conversation]:
    """The conversations of a file or a split. Says which keys are ignored."""
    rows = rename_keys(rows, config.rename)
    if not rows:
        raise SystemExit(f"{source} has no conversations.")
    found = [read_conversation(row, place) for place, row in rows]
    known = {name for place, row in rows for name in find_form(row, place)} | {*SETTINGS}
    note_ignored(source, (name for _, row in rows for name in row), known)
    return found

#: slot read_rows when dataset=jsonl
def load_file(path: str, config) -> list[Conversation]:
    """The conversations of a file of JSON lines, a list in JSON, or Parquet."""
    return read_conversations(list(read_objects(path)), path, config)

#: slot split when dataset=jsonl
conversations, *apart = (
    load_file(path, config) if path else []
    for path in (config.path, config.val_path, config.test_path)
)
few = f"{config.path} has {len(conversations)} conversations: a split needs at least 10."
parts = complete_parts(conversations, apart, few)
return [Conversations(list(part), config) for part in parts]

#: slot split when dataset=huggingface
splits, found = load_splits(config), []
for name in ("train", "validation", "test"):
    rows = [
        (f"{config.dataset_name}, row {number} of {name}", drop_nulls(row))
        for number, row in enumerate(splits.get(name) or (), start=1)
    ]
    source = f"{config.dataset_name}, {name}"
    found.append(read_conversations(rows, source, config) if rows else [])
few = f"{config.dataset_name} has {len(found[0])} conversations: a split needs at least 10."
parts = complete_parts(found[0], found[1:], few)
return [Conversations(list(part), config) for part in parts]

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
