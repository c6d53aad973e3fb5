"""The data: batches of pairs of conversations, whose last answers are preferred and rejected.

Tokens and their mask have the shape (batch, 2, length), and the preferred answer comes first. The
mask is False for padding.
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

from model import build_tokenizer

ROLES = {"human": "user", "gpt": "assistant", "model": "assistant", "observation": "tool"}
Messages = list[dict]  # each with a `role`, such as user or assistant, and a `content`


@dataclass(frozen=True)
class Conversation:
    messages: Messages
    place: str  # where it was found, for error messages
    settings: dict = field(default_factory=dict)  # for the chat template, such as tools


def read_turns(turns: list, place: str) -> Messages:
    """The messages of turns: lists of messages, or texts of the user and the assistant in turn."""
    given: list = []
    for number, turn in enumerate(turns):
        role = ("user", "assistant")[number % 2]
        given += turn if isinstance(turn, list) else [{"role": role, "content": turn}]
    return [read_message(one, f"{place}: message {n}") for n, one in enumerate(given, start=1)]


@cache
def note(text: str) -> None:
    """Print a line once, on the main process. Not to stdout: predictions may be there."""
    if PartialState().is_main_process:
        print(text, file=sys.stderr)


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


def join_parts(parts: list, place: str) -> str:
    """The text of a content in parts."""
    given = [part.get("text") for part in parts if isinstance(part, dict)]
    texts = [text for text in given if isinstance(text, str)]
    if len(texts) < len(parts):
        raise SystemExit(f"{place} has parts that are not text. Leave such conversations out.")
    return "".join(texts)


def add_system(messages: Messages, row: dict, place: str) -> Messages:
    """The messages, after the `system` of the row."""
    system = row.get("system") or ""
    if not isinstance(system, str):
        raise SystemExit(f"{place}: its system is not text, but {system!r:.60}.")
    if system and messages and messages[0]["role"] == "system":
        raise SystemExit(f"{place} has a system message and the key system: leave one of them out.")
    return [{"role": "system", "content": system}, *messages] if system else messages


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


@dataclass(frozen=True)
class Pair:
    """Two conversations that end with the preferred and with the rejected answer."""

    chosen: Messages
    rejected: Messages
    place: str  # where it was found, for error messages
    settings: dict = field(default_factory=dict)  # for the chat template, such as tools


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
    if answers[-1].get("weight") == 0:
        raise SystemExit(f"{place}: {column} ends with an answer of weight 0: leave the row out.")
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


def encode_chat(messages: Messages, config, settings: dict) -> list[int]:
    """The tokens of a conversation. Raises ValueError for an unknown role, and for tools.

    A message is the token of its role, its text and the token of its end.
    """
    check_keys(messages, settings, template="")
    tokenizer, tokens = build_tokenizer(config), list[int]()
    for message in messages:
        role = message["role"]
        if role not in tokenizer.roles:
            raise ValueError(f"the role {role} is not one of {', '.join(tokenizer.roles)}.")
        tokens += [tokenizer.roles[role], *tokenizer.encode(message["content"]), tokenizer.end]
    return tokens


class Pairs(Dataset):
    """The tokens of pairs of conversations, each of up to `context` tokens."""

    def __init__(self, pairs: list[Pair], config) -> None:
        self.samples: list[tuple[Tensor, Tensor]] = []
        self.prompts: list[str] = []  # of each sample
        equal: list[str] = []
        for pair in pairs:
            try:
                chats = (pair.chosen, pair.rejected)
                chosen, rejected = (encode_chat(chat, config, pair.settings) for chat in chats)
            except ValueError as error:
                raise SystemExit(f"{pair.place}: {error}") from error
            if chosen == rejected:
                equal.append(pair.place)
            elif max(len(chosen), len(rejected)) <= config.context:
                self.samples.append((torch.tensor(chosen), torch.tensor(rejected)))
                self.prompts.append(str(pair.chosen[:-1]))
        if not self.samples:
            raise SystemExit(
                f"{pairs[0].place}, and {len(pairs) - 1} more: no pair has two different answers "
                f"within --context {config.context}."
            )
        if long := len(pairs) - len(equal) - len(self.samples):
            PartialState().print(
                f"{len(pairs)} pairs: {long} longer than --context {config.context} are left out."
            )
        if equal:
            PartialState().print(
                f"{equal[0]}: chosen and rejected are equal. Such pairs are left out: {len(equal)}."
            )

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.samples[index]


def collate(samples: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """The tokens of pairs and their mask, shape (batch, 2, length)."""
    tokens, mask = pad_chats([chat for pair in samples for chat in pair])
    return tokens.unflatten(0, (-1, 2)), mask.unflatten(0, (-1, 2))


def pad(rows: Sequence[Tensor], value: int = 0) -> Tensor:
    """Rows padded to the same length, shape (batch, length)."""
    return pad_sequence(list(rows), batch_first=True, padding_value=value)


def pad_chats(chats: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The tokens of conversations and their mask, shape (batch, length)."""
    return pad(chats), pad([torch.ones_like(chat, dtype=torch.bool) for chat in chats])


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


def make_mistake(answer: str, rng: random.Random) -> str:
    """The answer with one digit or letter changed."""
    place = rng.randrange(len(answer))
    others = "0123456789" if answer.isdigit() else "abcdefgh"
    wrong = rng.choice(others.replace(answer[place], ""))
    return answer[:place] + wrong + answer[place + 1 :]


def write_pairs() -> list[Pair]:
    """Made-up questions, each with its answer and a wrong one."""
    rng, pairs = random.Random(0), list[Pair]()
    for question, answer in dict(write_question(rng) for _ in range(4_000)).items():
        prompt = [{"role": "user", "content": question}]
        chosen, rejected = (
            [*prompt, {"role": "assistant", "content": text}]
            for text in (answer, make_mistake(answer, rng))
        )
        pairs.append(Pair(chosen, rejected, f"pair {len(pairs) + 1}"))
    return pairs


def build_datasets(config) -> list[Dataset]:
    """Pairs for training, validation and test."""
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(Pairs(write_pairs(), config), [0.8, 0.1, 0.1], generator=split)


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
