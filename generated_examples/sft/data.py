"""The data: batches of inputs and targets, tokens of shape (batch, length).

A sample is a conversation. The target of each token is the token after it, but only those of the
assistant's answers count: the model learns to write these, not the questions. All others are
IGNORED, and so is the padding of conversations that are shorter than the longest of their batch.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, random_split

from metrics import IGNORED, log
from model import build_tokenizer

Messages = list[dict[str, str]]  # each with a `role`, such as user or assistant, and a `content`
Sample = tuple[Tensor, ...]  # model inputs and targets, each of shape (length,)


@dataclass(frozen=True)
class Conversation:
    messages: Messages
    place: str  # where it was found, for error messages


def write_question(rng: random.Random) -> tuple[str, str]:
    """A question and its answer, by one of three rules."""
    word = "".join(rng.choices("abcdefgh", k=3))
    digit, number = rng.randint(1, 3), rng.randint(100, 999)
    return rng.choice(
        [
            (f"reverse {word}", word[::-1]),
            (f"sort {word}", "".join(sorted(word))),
            (f"add {digit} to {number}", str(digit + number)),
        ]
    )


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


def encode_chat(messages: Messages, config) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and whether each is part of an answer.

    A message is the token of its role, its text and the token of its end. The end of an answer
    counts: the model learns where to stop. Raises ValueError for an unknown role.
    """
    tokenizer = build_tokenizer(config)
    tokens: list[int] = []
    counts: list[bool] = []
    for message in messages:
        role = message["role"]
        if role not in tokenizer.roles:
            raise ValueError(f"the role {role} is not one of {', '.join(tokenizer.roles)}.")
        text = [*tokenizer.encode(message["content"]), tokenizer.end]
        tokens += [tokenizer.roles[role], *text]
        counts += [False, *[role == "assistant"] * len(text)]
    return tokens, counts


def encode_prompt(messages: Messages, config) -> list[int]:
    """The tokens of a conversation up to where an answer begins."""
    return [*encode_chat(messages, config)[0], build_tokenizer(config).roles["assistant"]]


def find_ends(config) -> set[int]:
    """The tokens that end an answer."""
    return {build_tokenizer(config).end}


def split_at_answer(sample: Sequence[Tensor]) -> tuple[list[int], list[int]]:
    """The tokens before the last answer of a sample, and those of the answer."""
    inputs, targets = sample[0], sample[-1]
    last = int((targets != IGNORED).nonzero()[-1])
    others = (targets[:last] == IGNORED).nonzero()
    first = int(others[-1]) + 1 if len(others) else 0
    return inputs[: first + 1].tolist(), targets[first : last + 1].tolist()


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
                self.samples.append((inputs, targets))
            else:
                left_out += 1
        if not self.samples:
            raise SystemExit(f"No answer begins within --context {config.context}: make it larger.")
        if cut or left_out:
            log(
                f"{len(conversations)} conversations: {cut} tokens beyond --context "
                f"{config.context} are cut off. {left_out} without an answer are left out."
            )

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


def show(sample: Sample, config) -> str:
    """A sample up to the last token that counts, with [[ and ]] around those that count."""
    decode, text, counted = build_tokenizer(config).show, "", False
    inputs, targets = sample[0].tolist(), sample[-1].tolist()
    run = inputs[:1]
    for token, target in zip([*inputs[1:], IGNORED], targets, strict=True):
        if (target != IGNORED) != counted:
            text += decode(run) + ("]]" if counted else "[[")
            run, counted = [], not counted
        run.append(target if counted else token)
        if counted and token != target:  # the last token of a text is no input
            text += decode(run) + "]]"
            run, counted = [token], False
    return text + decode([token for token in run if token != IGNORED])


def pad(rows: Sequence[Tensor], value: int = 0) -> Tensor:
    """Rows padded to the same length, shape (batch, length)."""
    return pad_sequence(list(rows), batch_first=True, padding_value=value)


def collate(samples: list[Sample]) -> tuple[Tensor, Tensor]:
    """A batch of inputs and targets, padded to the longest sample."""
    inputs, targets = zip(*samples, strict=True)
    return pad(inputs, 0), pad(targets, IGNORED)


def build_datasets(config) -> list[Dataset]:
    """Conversations for training, validation and test."""
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    conversations = Conversations(write_conversations(), config)
    return random_split(conversations, [0.8, 0.1, 0.1], generator=split)


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        collate_fn=collate,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    # larger batches fit in memory, because no activations are kept
    settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}
    settings["generator"] = torch.Generator()  # else evaluating advances the RNG of dropout
    val_loader = DataLoader(val_set, collate_fn=collate, **settings)
    test_loader = DataLoader(test_set, collate_fn=collate, **settings)
    return train_loader, val_loader, test_loader
