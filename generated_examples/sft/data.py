"""The data: batches of inputs and targets, tokens of shape (batch, length).

A sample is a conversation. The target of each token is the token after it, but only those of the
assistant's answers count: the model learns to write these, not the questions. All others are
IGNORED, and so is the padding of conversations that are shorter than the longest of their batch.
"""

import json
import random
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TextIO

import torch
from accelerate import PartialState
from fsspec.implementations.local import LocalFileSystem
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, random_split

from metrics import IGNORED
from model import build_tokenizer

Sample = tuple[Tensor, ...]  # model inputs and targets, each of shape (length,)


Messages = list[dict]  # each with a `role`, such as user or assistant, and a `content`
ROLES = {"human": "user", "gpt": "assistant", "model": "assistant", "observation": "tool"}


def read_extras(row: dict, place: str) -> dict:
    """What a row has for the chat template: its `tools`, a list or its JSON, and more values."""
    tools, values = row.get("tools"), row.get("chat_template_kwargs")
    try:
        tools = json.loads(tools or "[]") if isinstance(tools, str) else tools
        values = json.loads(values or "{}") if isinstance(values, str) else values
    except ValueError as error:
        raise SystemExit(f"{place}: its tools are not JSON: {error}") from error
    if not isinstance(tools, list | None) or not isinstance(values, dict | None):
        raise SystemExit(f"{place}: tools must be a list, and chat_template_kwargs an object.")
    taken = {"tools", "messages", "chat_template", "add_generation_prompt"} & {*(values or {})}
    if row.get("functions") or taken:
        raise SystemExit(f"{place}: write its {', '.join(sorted(taken)) or 'functions'} as tools.")
    return {**(values or {}), **({"tools": tools} if tools else {})}


def find_kind(path: str) -> str:
    """What a file has, by its name: csv for rows.csv, and for rows.CSV.gz."""
    found = re.search(r"\.(\w+?)(\.(gz|bz2|xz|zst))?$", path.lower())
    return found[1] if found else ""


def holds_objects(path: str) -> bool:
    """Whether a file has rows of JSON or Parquet, by its name. It may be compressed."""
    return find_kind(path) in ("jsonl", "jsonlines", "jl", "ndjson", "ldjson", "json", "parquet")


def open_text(path: str, newline: str | None = None) -> TextIO:
    """A text file. One that ends in .gz, .bz2, .xz or .zst is decompressed. No archive."""
    if re.search(r"\.(zip|tar)(\.\w+)?$", path.lower()):
        raise SystemExit(f"{path} can't be read: unpack it, and name what was in it.")
    settings = {"encoding": "utf-8-sig", "newline": newline, "compression": "infer"}
    try:
        return LocalFileSystem().open(path, "rt", **settings)
    except ValueError as error:  # the package for .zst is missing
        raise SystemExit(f"{path} can't be read: {error}: pip install zstandard") from error


def read_objects(path: str) -> Iterator[tuple[str, dict]]:
    """The rows of a file, and where each one is."""
    if (kind := find_kind(path)) in ("csv", "tsv", "xlsx"):
        raise SystemExit(
            f"{path} is a table, and rows of JSON are needed. pandas writes them: "
            'pd.read_csv(...).to_json("rows.jsonl", orient="records", lines=True).'
        )
    read = read_parquet if kind == "parquet" else read_json
    try:
        for place, row in read(path):
            if not isinstance(row, dict):
                raise SystemExit(f"{place} is not a JSON object.")
            yield place, row
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error


def read_json(path: str) -> Iterator[tuple[str, object]]:
    """What each line of a file has, or each item of its list."""
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if number == 1 and line.lstrip().startswith("["):  # a list, which may go on
                rows: list = parse(line + file.read(), path)  # type: ignore[assignment]
                yield from ((f"{path}, item {place}", row) for place, row in enumerate(rows, 1))
            elif line.strip():
                place = f"{path}, line {number}"
                yield place, parse(line, place)


def parse(text: str, place: str) -> object:
    try:
        row = json.loads(text, object_pairs_hook=join_pairs)
        json.dumps(row, ensure_ascii=False).encode()  # rejects lone surrogates
    except (ValueError, RecursionError) as error:
        raise SystemExit(f"{place} is not JSON: {error}") from error
    return row


def join_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object. Raises ValueError if a key is there twice: json would take the last one."""
    row = dict(pairs)
    if len(row) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"it has the key {name!r} twice")
    return row


def read_parquet(path: str) -> Iterator[tuple[str, dict]]:
    """The rows of a Parquet file."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise SystemExit(f"{path} needs a package: pip install pyarrow") from error
    number = 0
    for batch in parquet.ParquetFile(path).iter_batches():
        for row in batch.to_pylist():
            number += 1
            yield f"{path}, row {number}", {name: drop_nulls(cell) for name, cell in row.items()}


def drop_nulls(value: object) -> object:
    """A value without the keys that Parquet and Arrow add, so that all rows have the same."""
    if isinstance(value, dict):
        return {name: drop_nulls(item) for name, item in value.items() if item is not None}
    return [drop_nulls(item) for item in value] if isinstance(value, list) else value


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


@dataclass(frozen=True)
class Conversation:
    messages: Messages
    place: str  # where it was found, for error messages
    settings: dict = field(default_factory=dict)  # for the chat template, such as tools


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


def add_system(messages: Messages, row: dict, place: str) -> Messages:
    """The messages, after the `system` of the row."""
    system = row.get("system") or ""
    if not isinstance(system, str):
        raise SystemExit(f"{place}: its system is not text, but {system!r:.60}.")
    if system and messages and messages[0]["role"] == "system":
        raise SystemExit(f"{place} has a system message and the key system: leave one of them out.")
    return [{"role": "system", "content": system}, *messages] if system else messages


def join_parts(parts: list, place: str) -> str:
    """The text of a content in parts."""
    given = [part.get("text") for part in parts if isinstance(part, dict)]
    texts = [text for text in given if isinstance(text, str)]
    if len(texts) < len(parts):
        raise SystemExit(f"{place} has parts that are not text. Leave such conversations out.")
    return "".join(texts)


def read_calls(calls: object, place: str) -> list[dict]:
    """Calls of tools, each with a function that has a name."""
    calls = calls if isinstance(calls, list) else [calls]
    wrapped = [
        (
            {"type": "function", "function": call}
            if isinstance(call, dict) and "name" in call
            else call
        )
        for call in calls
    ]
    functions = [isinstance(call, dict) and call.get("function") for call in wrapped]
    if not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in functions):
        raise SystemExit(f"{place}: each of its tool_calls needs a function with a name.")
    return [call for call in wrapped if isinstance(call, dict)]


def read_message(message: object, place: str) -> dict:
    """A message, also in the form of ShareGPT, which has `from` and `value`."""
    wrong = f"{place} needs a role and a content, both texts."
    if not isinstance(message, dict):
        raise SystemExit(wrong)
    row = {key: value for key, value in message.items() if value is not None}
    if "from" in row and "value" in row:
        row = {"role": row.pop("from"), "content": row.pop("value"), **row}
    role, content = row.get("role"), row.get("content")
    if isinstance(content, list):  # parts
        content = join_parts(content, place)
    if not row.get("tool_calls"):
        row.pop("tool_calls", None)  # an empty list
    else:
        row["tool_calls"] = read_calls(row["tool_calls"], place)
    is_call = "tool_calls" in row and content is None  # it needs no text
    if not is_call and (not isinstance(role, str) or not isinstance(content, str)):
        raise SystemExit(wrong)
    if role in ("function_call", "tool_call"):
        raise SystemExit(f"{place}: write a {role} as tool_calls of a message of the assistant.")
    role = str(role)
    name = ROLES.get(role.lower(), role)
    name = name.lower() if name.lower() in ("system", "user", "assistant") else name
    if name != role:
        note(f"{place.partition(',')[0]}: messages of {role} are read as those of {name}")
    if row.get("weight", 1) not in (0, 1) or ("weight" in row and name != "assistant"):
        raise SystemExit(f"{place}: a weight is 0 or 1, and belongs to a message of the assistant.")
    return {**row, "role": name, "content": content}


def read_turns(turns: list, place: str) -> Messages:
    """The messages of turns: lists of messages, or texts of the user and the assistant in turn."""
    given: list = []
    for number, turn in enumerate(turns):
        role = ("user", "assistant")[number % 2]
        given += turn if isinstance(turn, list) else [{"role": role, "content": turn}]
    return [read_message(one, f"{place}: message {n}") for n, one in enumerate(given, start=1)]


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


@cache
def note(text: str) -> None:
    """Print a line once, on the main process. Not to stdout: predictions may be there."""
    if PartialState().is_main_process:
        print(text, file=sys.stderr)


def check_keys(messages: Messages, settings: dict, template: str) -> None:
    """Raise ValueError if a chat template reads no tools, and name other keys that it ignores."""
    names = dict.fromkeys([*settings, *(name for message in messages for name in message)])
    for name in names:
        if name in ("role", "content", "weight"):
            continue
        if name not in template and name in ("tools", "tool_calls"):
            raise ValueError(f"the chat template does not write {name}.")
        if name not in template and name not in ("id", "tool_call_id"):
            note(f"ignored, as the chat template does not read it: {name}")


def encode_chat(
    messages: Messages, config, settings: dict | None = None
) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and whether each is part of an answer.

    A message is the token of its role, its text and the token of its end. The end of an answer
    counts: the model learns where to stop. An answer with a weight of 0 does not count. Raises
    ValueError for an unknown role, and for tools.
    """
    check_keys(messages, settings or {}, template="")
    tokenizer = build_tokenizer(config)
    tokens: list[int] = []
    counts: list[bool] = []
    for message in messages:
        role = message["role"]
        if role not in tokenizer.roles:
            raise ValueError(f"the role {role} is not one of {', '.join(tokenizer.roles)}.")
        text = [*tokenizer.encode(message["content"]), tokenizer.end]
        tokens += [tokenizer.roles[role], *text]
        counted = role == "assistant" and message.get("weight") != 0
        counts += [False, *[counted] * len(text)]
    return tokens, counts


def encode_prompt(messages: Messages, config, settings: dict | None = None) -> list[int]:
    """The tokens of a conversation up to where an answer begins. Raises ValueError as above."""
    return [*encode_chat(messages, config, settings)[0], build_tokenizer(config).roles["assistant"]]


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


def leave_out_answers(messages: Messages) -> Messages:
    """The messages, none of which counts."""
    return [{**one, "weight": 0} if one["role"] == "assistant" else one for one in messages]


def split_thoughts(messages: Messages) -> list[Messages]:
    """A conversation for each answer if an earlier one has thoughts: templates leave these out."""
    answers = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
    earlier = [messages[n] for n in answers[:-1]]
    if not any("reasoning_content" in m or "</think>" in (m["content"] or "") for m in earlier):
        return [messages]
    parts = [(messages[:n], messages[n]) for n in answers if messages[n].get("weight") != 0]
    return [[*leave_out_answers(before), answer] for before, answer in parts]


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
                self.samples.append((inputs, targets))
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
    settings = {
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        "num_workers": config.num_workers,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader = DataLoader(val_set, collate_fn=collate, **settings)
    test_loader = DataLoader(test_set, collate_fn=collate, **settings)
    return train_loader, val_loader, test_loader
