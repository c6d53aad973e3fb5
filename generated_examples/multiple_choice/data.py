"""The data: batches of tokens, their mask and types, and labels.

Tokens, mask and types have the shape (batch, choices, length): in each row, a text and a choice
that may follow it. A type is 1 for tokens of the choice, else 0. The mask is False where a row is
padded, and in all rows that pad a sample with fewer choices. Labels, (batch,), are the indices
of the right choices.
"""

import json
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple, TextIO
from zlib import crc32

import torch
from fsspec.implementations.local import LocalFileSystem
from torch import Tensor
from torch.utils.data import DataLoader, random_split

PIECES, START, END = 4096, 0, 1  # vocabulary size, and the tokens before and after a text


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
    count. Choices may have their own labels, such as letters, as in ARC (Clark et al. 2018,
    https://arxiv.org/abs/1803.05457).
    """
    row, labels = read_labels(row, place)
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
            f"{place}: there are no 'choices' and no 'ending0' in {', '.join(map(str, row))}. "
            "If the keys have other names, set --rename, such as query=context."
        )
    if not isinstance(context, str) or not context.strip():
        raise SystemExit(f"{place}: its context (or sent1) is not text, but {context!r:.60}.")
    if not isinstance(choices, (list, tuple)) or len(choices) < 2:
        raise SystemExit(f"{place}: it needs two choices or more, and has {choices!r:.60}.")
    for number, choice in enumerate(choices):
        if not isinstance(choice, str) or not choice.strip():
            raise SystemExit(f"{place}: choice {number} is not text, but {choice!r:.60}.")
    labels = labels or [str(number) for number in range(len(choices))]
    return Question(context, tuple(choices), read_label(row.get("label"), labels, place))


def read_labels(row: dict, place: str) -> tuple[dict, list[str]]:
    """A row in which choices are texts, and their own labels if they have some, as in ARC."""
    row, choices = dict(row), row.get("choices")
    others = {"question": "context", "question_stem": "context", "answerKey": "label"}
    for name, other in others.items():
        if name in row and other not in row:
            row[other] = row[name]
    if isinstance(row.get("context"), dict):  # the files of ARC
        row["context"], choices = row["context"].get("stem"), row["context"].get("choices")
    if isinstance(choices, dict):  # as on the Hub: a list of texts, and one of labels
        texts, labels = choices.get("text"), choices.get("label")
    elif isinstance(choices, list) and choices and all(isinstance(one, dict) for one in choices):
        texts, labels = ([one.get(key) for one in choices] for key in ("text", "label"))
    else:
        is_letter = str(row.get("label")) in list("ABCDEFGHIJ") and isinstance(choices, list)
        return row, list("ABCDEFGHIJ"[: len(choices)]) if is_letter else []
    same = isinstance(texts, list) and isinstance(labels, list) and len(texts) == len(labels)
    if not same or len(set(map(str, labels))) < len(labels):
        raise SystemExit(f"{place}: its choices need a text and a label each, not {choices!r:.60}.")
    return {**row, "choices": texts}, list(map(str, labels))


def read_label(given, labels: list[str], place: str) -> int:
    """The index of the right choice, or -1 if there is none."""
    if given in (None, "", -1, "-1"):
        return -1
    if isinstance(given, bool) or str(given) not in labels:
        allowed = f"{labels[0]} to {labels[-1]}"
        raise SystemExit(f"{place}: its label is {given!r:.60}, not one of {allowed}.")
    return labels.index(str(given))


NAMES = "Ann Ben Cleo Dan Eva Finn Gus Ida Jon Kim Lea Max Nina Otto Pia Rob Sue Tom Uma Vic"
USES = {
    "axe": "splits the logs",
    "broom": "sweeps the floor",
    "brush": "paints the fence",
    "camera": "takes a picture",
    "drill": "makes a hole in the wall",
    "hammer": "drives in a nail",
    "iron": "smooths a shirt",
    "kettle": "boils some water",
    "key": "opens the door",
    "knife": "cuts the bread",
    "ladder": "climbs onto the roof",
    "lamp": "lights up the cellar",
    "mop": "wipes up the puddle",
    "needle": "sews on a button",
    "oven": "bakes a cake",
    "pen": "signs the letter",
    "piano": "plays a waltz",
    "rope": "ties up the boat",
    "scale": "weighs the flour",
    "shovel": "digs a ditch",
    "towel": "dries the plates",
}
CONTEXTS = [
    "{name} picks up the {thing} and leaves the {other}.",
    "{name} leaves the {other} and picks up the {thing}.",
    "{name} asks for the {thing}, as the {other} is broken.",
    "The {other} is broken, so {name} asks for the {thing}.",
]


@cache
def load_questions(config) -> list[list[Question]]:
    """5,000 sentences about somebody who takes a thing, and two to four possible continuations.

    The use of another thing in the sentence is always among them.
    """
    rng = random.Random(0)
    return split_rows([write_question(rng) for _ in range(5000)], [0.8, 0.1, 0.1])


def write_question(rng: random.Random) -> Question:
    things = rng.sample(list(USES), rng.randint(2, 4))
    name, (thing, other, *_) = rng.choice(NAMES.split()), things
    context = rng.choice(CONTEXTS).format(name=name, thing=thing, other=other)
    rng.shuffle(things)
    choices = tuple(f"{name} {USES[one]}." for one in things)
    return Question(context, choices, things.index(thing))


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


def split_rows(rows: list, shares: list[float], source: str = "the data") -> list[list]:
    """The rows in splits of these sizes, the same in each run. `source` is for error messages."""
    if shares[0] == 1:  # the other splits have their own files
        return [rows, [], []]
    if len(rows) < 10:
        raise SystemExit(
            f"{source}: {len(rows)} rows can't be split into training, validation and test: use "
            "10 or more."
        )
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return [list(part) for part in random_split(rows, shares, generator=rng)]


def number_pieces(text: str, pieces: list[tuple[int, int]]) -> list[int]:
    """The id of a piece is its hash, so no vocabulary is needed."""
    return [2 + crc32(text[start:end].encode()) % (PIECES - 2) for start, end in pieces]


def split_pieces(text: str) -> list[tuple[int, int]]:
    """Where the tokens of a text start and end: other characters, and words in pieces of eight."""
    return [piece.span() for piece in re.finditer(r"\w{1,8}|[^\w\s]", text)]


def encode(pairs: list[tuple[str, str]], config) -> Iterator[tuple[list[int], int]]:
    """The tokens of each text and its choice, and the first one of the choice.

    If it is too long, the beginning of the text is cut. A choice has at most half of the tokens.
    """
    for context, choice in pairs:
        last = number_pieces(choice, split_pieces(choice))[: config.max_length // 2]
        room = config.max_length - len(last) - 2
        head = [START, *number_pieces(context, split_pieces(context))[-room:], END]
        yield head + last, len(head)


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
    tokens = torch.zeros(len(samples), most, longest, dtype=torch.long)
    mask, types = torch.zeros_like(tokens, dtype=torch.bool), torch.zeros_like(tokens)
    for row, sample in enumerate(samples):
        for column, (choice, first) in enumerate(sample.choices):
            tokens[row, column, : len(choice)] = choice
            mask[row, column, : len(choice)] = True
            types[row, column, first : len(choice)] = 1
    return tokens, mask, types, torch.tensor([sample.label for sample in samples])


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
