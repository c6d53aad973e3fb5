"""The data: batches of pairs of answers, one of which is preferred.

A sample is two conversations that differ only in the last answer; the first one is preferred.
Inputs and targets are tokens of shape (batch, 2, length). The target of each token is the token
after it, but only those of the last answer count. All others are IGNORED, and so is padding.
`reference` has the log-probabilities of both answers before training, shape (batch, 2). `beta` is
that of the run, shape (batch,): it comes with the data, because evaluate() gets no settings.
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
from reference import Reference

Messages = list[dict[str, str]]  # each with a `role`, such as user or assistant, and a `content`
Sample = tuple[Tensor, Tensor]  # inputs and targets of a conversation, each of shape (length,)


@dataclass(frozen=True)
class Pair:
    """Two conversations that end with the preferred and with the rejected answer."""

    chosen: Messages
    rejected: Messages
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


def read_pair(row: dict, place: str) -> Pair:
    """The `prompt` of a row with its answers `chosen` and `rejected`."""
    chosen, rejected = (read_messages(row, place, column) for column in ("chosen", "rejected"))
    if chosen[:-1] != rejected[:-1]:
        raise SystemExit(f"{place}: chosen and rejected answer different prompts.")
    return Pair(chosen, rejected, place)


def read_messages(row: dict, place: str, column: str = "chosen") -> Messages:
    """The conversation of a row with the answer of a column.

    The prompt and the answer are texts or lists of messages. The answer may repeat the prompt, as
    in many datasets; the column `prompt` is then optional.
    """
    if not {"chosen", "rejected"} <= row.keys():
        raise SystemExit(
            f"{place} has {', '.join(row) or 'nothing'}: it needs prompt, chosen and rejected."
        )
    prompt, answer = row.get("prompt"), row[column]
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    if isinstance(answer, str):
        answer = [{"role": "assistant", "content": answer}]
    prompt = [] if prompt is None else prompt
    if not isinstance(prompt, list) or not isinstance(answer, list):
        raise SystemExit(f"{place}: prompt and {column} must be texts or lists of messages.")
    messages = answer if answer[: len(prompt)] == prompt else prompt + answer
    for number, message in enumerate(messages, start=1):
        texts = isinstance(message, dict) and [message.get(name) for name in ("role", "content")]
        if not texts or not all(isinstance(text, str) for text in texts):
            raise SystemExit(f"{place}: message {number} needs a role and a content, both texts.")
    if not messages or messages[-1]["role"] != "assistant":
        raise SystemExit(f"{place}: {column} does not end with an assistant message.")
    if len(messages) == 1:
        raise SystemExit(f"{place} has no prompt.")
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


class Pairs(Dataset):
    """Pairs of answers, each of up to `context` inputs. Longer ones are cut at the end."""

    def __init__(self, pairs: list[Pair], config, reference: Reference) -> None:
        self.samples: list[tuple[Sample, Sample]] = []
        self.beta, cut = config.beta, 0
        for pair in pairs:
            try:
                whole = [encode_answer(chat, config) for chat in (pair.chosen, pair.rejected)]
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
            log(
                f"{len(pairs)} pairs: {cut} tokens beyond --context {config.context} are cut off. "
                f"{left_out} without two different answers within it are left out."
            )
        starts = range(0, len(self.samples), size := 4 * config.batch_size)
        batches = (pad_pairs(self.samples[start : start + size]) for start in starts)
        self.reference = reference.measure(batches)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Sample, Sample, Tensor, float]:
        return *self.samples[index], self.reference[index], self.beta


def split_at_answer(sample: Sequence[Tensor]) -> tuple[list[int], list[int]]:
    """The tokens before the last answer of a sample, and those of the answer."""
    inputs, targets = sample[0], sample[-1]
    last = int((targets != IGNORED).nonzero()[-1])
    others = (targets[:last] == IGNORED).nonzero()
    first = int(others[-1]) + 1 if len(others) else 0
    return inputs[: first + 1].tolist(), targets[first : last + 1].tolist()


def encode_answer(messages: Messages, config) -> Sample:
    """A conversation in which only the last answer counts. Raises ValueError if it has none."""
    tokens, counts = map(torch.tensor, encode_chat(messages, config))
    if not counts.any():
        raise ValueError("the chat template marks no answer.")
    inputs, targets = tokens[:-1], tokens.where(counts, IGNORED)[1:]
    prompt, _ = split_at_answer((inputs, targets))
    targets[: len(prompt) - 1] = IGNORED  # the answers of earlier turns
    return inputs, targets


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


def collate(samples: list[tuple]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch of inputs, targets, log-probabilities of the reference, and beta."""
    *pairs, references, betas = zip(*samples, strict=True)
    pairs = list(zip(*pairs, strict=True))
    return *pad_pairs(pairs), torch.stack(references), torch.tensor(betas)


def pad(rows: Sequence[Tensor], value: int = 0) -> Tensor:
    """Rows padded to the same length, shape (batch, length)."""
    return pad_sequence(list(rows), batch_first=True, padding_value=value)


def pad_pairs(pairs: Sequence[tuple[Sample, Sample]]) -> tuple[Tensor, Tensor]:
    """Inputs and targets of pairs, each of shape (batch, 2, length), padded to the longest."""
    inputs, targets = zip(*(sample for pair in pairs for sample in pair), strict=True)
    return tuple(
        pad(rows, value).unflatten(0, (-1, 2)) for rows, value in ((inputs, 0), (targets, IGNORED))
    )


def build_datasets(config) -> list[Dataset]:
    """Pairs for training, validation and test."""
    reference = Reference(config)
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(Pairs(write_pairs(), config, reference), [0.8, 0.1, 0.1], generator=split)


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
