#: file
"""The data: batches of pairs of answers, one of which is preferred.

A sample is {{ task.sample_text }}
Inputs and targets are tokens of shape (batch, {{ task.rows }}, length). The target of each token is the token
after it, but only those of the last answer count. All others are IGNORED, and so is padding.
`reference` has the log-probabilities of {{ task.all }} answers before training, shape (batch, {{ task.rows }}). `beta` is
that of the run, shape (batch,): it comes with the data, because evaluate() gets no settings.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.utils.data import Dataset

from metrics import IGNORED
from accelerate import PartialState
from reference import Reference
from lib.conversations import Messages, leave_out_answers
from lib.samples import pad

Sample = tuple[Tensor, Tensor]  # inputs and targets of a conversation, each of shape (length,)


#: slot row_readers


@dataclass(frozen=True)
class Pair:
    """Two conversations that end with the preferred and with the rejected answer."""

    chosen: Messages
    rejected: Messages
    place: str  # where it was found, for error messages
    settings: dict = field(default_factory=dict)  # for the chat template, such as tools


#: slot read_pairs


#: region row_reader
def read_pair(row: dict, place: str) -> Pair:
    """The `prompt` of a row with its answers `chosen` and `rejected`."""
    chosen, rejected = (read_messages(row, place, column) for column in ("chosen", "rejected"))
    if chosen[:-1] != rejected[:-1]:
        raise SystemExit(
            f"{place}: chosen and rejected answer different prompts. They may only differ in the "
            "last message: cut both after the first answer that differs."
        )
    return Pair(chosen, rejected, place, read_extras(row, place))


def read_messages(row: dict, place: str, column: str = "chosen") -> Messages:
    """The conversation of a row with the answer of a column.

    The prompt and the answer are texts or lists of messages. The answer may repeat the prompt, as
    in many datasets; the column `prompt` is then optional. Texts may be whole dialogues as in
    Anthropic's HH, and a prompt may be called `question`, as in Orca.
    """
    if not {"chosen", "rejected"} <= row.keys():
        raise SystemExit(
            f"{place} has {', '.join(row) or 'nothing'}: it needs prompt, chosen and rejected. "
            "If they have other names, set --rename, such as input=prompt,best=chosen."
        )
    prompt, answer = row.get("prompt"), split_dialogue(row[column])
    prompt = row.get("question") if prompt is None else prompt
    prompt = [] if prompt is None else split_dialogue(prompt)
    if not isinstance(prompt, str | list) or not isinstance(answer, str | list):
        raise SystemExit(f"{place}: prompt and {column} must be texts or lists of messages.")
    messages = read_turns([prompt], place)
    answers = [{"role": "assistant", "content": answer}] if isinstance(answer, str) else answer
    answers = read_turns([answers], place)
    first = next((n for n, one in enumerate(answers) if one["role"] == "assistant"), 0)
    if first == 0 or not messages:
        messages += answers
    elif messages in (answers[first - len(messages) : first], answers[: len(messages)]):
        messages = answers  # perhaps after a system message
    else:
        raise SystemExit(f"{place}: {column} repeats another prompt: leave one of them out.")
    if not answers or answers[-1]["role"] != "assistant":
        raise SystemExit(f"{place}: {column} does not end with an assistant message.")
    if len(messages) == 1:
        raise SystemExit(f"{place} has no prompt.")
    return add_system(messages, row, place)


def split_dialogue(text: object) -> object:
    """The messages of a dialogue as in Anthropic's HH, https://arxiv.org/abs/2204.05862.

    It begins with two line breaks and "Human: ". Anything else is returned as it is.
    """
    if not isinstance(text, str) or not text.startswith("\n\nHuman:"):
        return text
    _, *parts = re.split(r"\n\n(Human|Assistant):", text)
    speakers = {"Human": "user", "Assistant": "assistant"}
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [{"role": speakers[name], "content": words.strip()} for name, words in pairs]
#: end row_reader

#: slot read_rows


#: slot encode


class Pairs(Dataset):
    """Pairs of answers, each of up to `context` inputs. Longer ones are cut at the end."""

    def __init__(self, pairs: list[Pair], config, reference: Reference) -> None:
        self.samples: list[tuple[{{ task.sample }}]] = []
        self.beta, cut = config.beta, 0
        for pair in pairs:
            try:
                chats = (pair.chosen, pair.rejected)
                whole = [encode_answer(chat, config, pair.settings) for chat in chats]
            except ValueError as error:
                raise SystemExit(f"{pair.place}: {error}") from error
            cut += sum(max(0, len(inputs) - config.context) for inputs, _ in whole)
            chosen, rejected = (tuple(part[: config.context] for part in one) for one in whole)
            answered = all((targets != IGNORED).any() for _, targets in (chosen, rejected))
            if answered and not torch.equal(chosen[1], rejected[1]):
                self.samples.append((chosen, rejected))
        left_out = len(pairs) - len(self.samples)
        if not self.samples:
            raise SystemExit(
                f"No pair has two different answers within --context {config.context}."
            )
        if cut or left_out:
            PartialState().print(
                f"{len(pairs)} pairs: {cut} tokens beyond --context {config.context} are cut off. "
                f"{left_out} without two different answers within it are left out."
            )
        #: slot all_samples
        starts = range(0, len(self.samples), size := 4 * config.batch_size)
        batches = (pad_pairs(self.samples[start : start + size]) for start in starts)
        self.reference = reference.measure(batches)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple{{ task.item }}:
        return *self.samples[index], self.reference[index], self.beta


def encode_answer(messages: Messages, config, settings: dict) -> Sample:
    """A conversation in which only the last answer counts. Raises ValueError if it has none."""
    messages = [*leave_out_answers(messages[:-1]), messages[-1]]
    tokens, counts = map(torch.tensor, encode_chat(messages, config, settings))
    if not counts.any():
        raise ValueError("the chat template marks no answer.")
    return tokens[:-1], tokens.where(counts, IGNORED)[1:]


#: slot encode_answers


#: slot show


def collate(samples: list[tuple]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch of inputs, targets, log-probabilities of the reference, and beta."""
    *pairs, references, betas = zip(*samples, strict=True)
    pairs = list(zip(*pairs, strict=True))
    return *pad_pairs(pairs), torch.stack(references), torch.tensor(betas)


def pad_pairs(pairs: Sequence[tuple[{{ task.sample }}]]) -> tuple[Tensor, Tensor]:
    """Inputs and targets of pairs, each of shape (batch, {{ task.rows }}, length), padded to the longest."""
    inputs, targets = zip(*(sample for pair in pairs for sample in pair), strict=True)
    return tuple(
        pad(rows, value).unflatten(0, (-1, {{ task.rows }})) for rows, value in ((inputs, 0), (targets, IGNORED))
    )


#: slot load_splits


def build_datasets(config) -> list[Dataset]:
    """Pairs for training, validation and test."""
    reference = Reference(config)
    ...  #: slot split


#: slot datasets


#: slot build_loaders
#: end file

import random
import re

from torch.utils.data import random_split

from lib.chats import write_question
from lib.conversations import SETTINGS, add_system, read_extras, read_turns
from lib.hub import complete_splits, load_splits
from lib.json_lines import drop_nulls, read_objects
from lib.notes import note_ignored, rename_keys

#: slot train_batches
collate_fn=collate,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate, **settings)
test_loader = DataLoader(test_set, collate_fn=collate, **settings)

#: slot read_pairs when dataset=rules
def write_pairs() -> list[Pair]:
    """Made-up questions, each with its answer and a wrong one."""
    rng, pairs = random.Random(0), []
    for question, answer in dict(write_question(rng) for _ in range(4_000)).items():
        prompt = [{"role": "user", "content": question}]
        chosen, rejected = (
            [*prompt, {"role": "assistant", "content": text}]
            for text in (answer, make_mistake(answer, rng))
        )
        pairs.append(Pair(chosen, rejected, f"pair {len(pairs) + 1}"))
    return pairs


def make_mistake(answer: str, rng: random.Random) -> str:
    """The answer with one digit or letter changed."""
    place = rng.randrange(len(answer))
    others = "0123456789" if answer.isdigit() else "abcdefgh"
    wrong = rng.choice(others.replace(answer[place], ""))
    return answer[:place] + wrong + answer[place + 1 :]

#: slot split when dataset=rules
# a fixed seed: another --seed must not move test samples into the training data
split = torch.Generator().manual_seed(0)
return random_split(Pairs(write_pairs(), config, reference), [0.8, 0.1, 0.1], generator=split)

#: slot read_rows when dataset=jsonl|huggingface
def read_pairs(rows: list[tuple[str, dict]], source: str, config) -> list[Pair]:
    """The pairs of a file or a split. Says which keys are ignored."""
    rows = rename_keys(rows, config.rename)
    if not rows:
        raise SystemExit(f"{source} has no pairs.")
    known = {"prompt", "question", "chosen", "rejected", *SETTINGS}
    note_ignored(source, (name for _, row in rows for name in row), known)
    return [read_pair(row, place) for place, row in rows]

#: slot read_rows when dataset=jsonl
def load_file(path: str, config) -> list[Pair]:
    """The pairs of a file of JSON lines, a list in JSON, or Parquet."""
    return read_pairs(list(read_objects(path)), path, config)

#: slot split when dataset=jsonl
files = [config.val_path, config.test_path]
shares = [0.0 if path else 0.1 for path in files]
samples = Pairs(load_file(config.path, config), config, reference)
if len(samples) < 10 and sum(shares):
    raise SystemExit(
        f"{config.path} has {len(samples)} pairs with two different answers within --context "
        f"{config.context}: a split needs at least 10."
    )
# a fixed seed: another --seed must not move test samples into the training data
rng = torch.Generator().manual_seed(0)
parts = random_split(samples, [1 - sum(shares), *shares], generator=rng)
# a split with its own file gets no share of the rows
return [
    Pairs(load_file(path, config), config, reference) if path else part
    for path, part in zip(["", *files], parts, strict=True)
]

#: slot split when dataset=huggingface
splits = complete_splits(load_splits(config))
parts = []
for name in ("train", "validation", "test"):
    source = f"{config.dataset_name}, {name}"
    rows = [
        (f"{config.dataset_name}, row {number} of {name}", drop_nulls(row))
        for number, row in enumerate(splits[name], start=1)
    ]
    parts.append(Pairs(read_pairs(rows, source, config), config, reference))
return parts

#: replace row_reader when dataset=rules project.loop=minimal

#: slot all_samples when loss=kto
# each with the answers of the pair before it
others = [self.samples[-1], *self.samples[:-1]]
self.samples = [
    (*pair, *(exchange_answer(pair[0], sample, config) for sample in other))
    for pair, other in zip(self.samples, others, strict=True)
]

#: slot encode_answers when loss=kto
def exchange_answer(sample: Sample, other: Sample, config) -> Sample:
    """A conversation with the last answer of another one, cut at the end."""
    inputs, targets = sample
    start = int((targets != IGNORED).nonzero()[0])
    answer = other[1][other[1] != IGNORED]
    inputs = torch.cat([inputs[: start + 1], answer[:-1]])
    targets = torch.cat([targets[:start], answer])
    return inputs[: config.context], targets[: config.context]
