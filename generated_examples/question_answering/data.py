"""The data: batches of tokens, their mask and types, spans, and windows.

The model sees a window: a question, and as much of its text as fits. Tokens, mask and types have
the shape (batch, length). The mask is False where a shorter window is padded, and a type is 1 for
tokens of the text, else 0. Spans, (batch, 2), are the first and the last token of the answer, both
0 if the window has none. Windows is a list of `Window`, with the texts of the tokens.
"""

import json
import random
import re
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TextIO
from zlib import crc32

import torch
from fsspec.implementations.local import LocalFileSystem
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, random_split

PIECES, START, END = 4096, 0, 1  # vocabulary size, and the tokens before and after a text


@dataclass(frozen=True)
class Question:
    """A question about a text. Each answer is its start in the text, and its words."""

    context: str
    question: str
    answers: tuple[tuple[int, str], ...] = ()  # none: the text does not have the answer


@dataclass(frozen=True)
class Window:
    """A question with a part of its text. Arrays are smaller than lists, and faster to send."""

    question: Question
    number: int  # number of the question: the same for all of its windows
    tokens: array
    first: int  # the first token of the text
    starts: array  # the first character of each token of the text
    ends: array  # the character after its last
    span: tuple[int, int]  # the first and the last token of the answer; (0, 0): no answer
    longest: int  # maximum tokens of an answer
    optional: bool  # there may be no answer

    def find(self, first: int, last: int) -> tuple[int, int]:
        """Where the words of these tokens start and end in the text."""
        start, end = self.starts[first - self.first], self.ends[last - self.first]
        words = self.question.context[start:end]  # some tokens begin with a space
        return start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())


def read_texts(row: dict, place: str) -> tuple[str, str]:
    """The text and the question of a row. `place` says where the row is, for error messages."""
    for key in ("context", "question"):
        if key not in row:
            raise SystemExit(f"{place}: there is no {key!r} in {', '.join(map(str, row))}.")
        if not isinstance(row[key], str) or not row[key].strip():
            raise SystemExit(f"{place}: its {key} is not text, but {row[key]!r:.60}.")
    return row["context"], row["question"]


def read_question(row: dict, place: str, config) -> Question:
    """A row in SQuAD format, whose answers have a text and its first character."""
    context, question = read_texts(row, place)
    given, answers = row.get("answers"), []
    try:
        if isinstance(given, dict):  # of lists, as on the Hub
            given = zip(given["text"], given["answer_start"], strict=True)
        else:
            given = [(answer["text"], answer["answer_start"]) for answer in given]
        for text, start in given:
            if not text.strip():
                raise SystemExit(f"{place}: the answer at character {start} is empty.")
            if start < 0 or context[start : start + len(text)] != text:
                there = context[start:][: len(text)] if start >= 0 else ""
                raise SystemExit(
                    f"{place}: the answer {text!r:.60} is not at character {start} of the context: "
                    f"there is {there!r:.60}."
                )
            answers.append((start + len(text) - len(text.lstrip()), text.strip()))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise SystemExit(
            f"{place}: write its answers like this: "
            '{"text": ["words"], "answer_start": [0]}. '
            f"They are {row.get('answers')!r:.60}."
        ) from None
    if bool(answers) == bool(row.get("is_impossible", not answers)):
        raise SystemExit(f"{place}: is_impossible is {bool(answers)}, with {len(answers)} answers.")
    if not answers and not config.optional_answers:
        raise SystemExit(f"{place}: it has no answer. If some have none, set --optional-answers.")
    return Question(context, question, tuple(answers))


STARTS = "Bal Cor Dun Fen Gal Har Kel Lin Mar Nor"
ENDS = "by den dor fell gate ham ion lan mond wick"
SECONDS = ["Bay", "Cross", "Hill", "Moor"]
FACTS = [  # a sentence, and questions about its second and its first name
    ("{} was born in {}.", "Where was {} born?", "Who was born in {}?"),
    ("{} lives near {}.", "Where does {} live?", "Who lives near {}?"),
    ("{} works for {}.", "Who does {} work for?", "Who works for {}?"),
    ("{} studied with {}.", "Who did {} study with?", "Who studied with {}?"),
    ("{} bought a house from {}.", "Who sold {} a house?", "Who bought a house from {}?"),
    ("{} wrote a book about {}.", "What did {} write about?", "Who wrote about {}?"),
    ("{} is the mayor of {}.", "Where is {} the mayor?", "Who is the mayor of {}?"),
]
OTHERS = ["It rained all week.", "Nobody was surprised.", "That was long ago."]


@cache
def load_questions(config) -> list[list[Question]]:
    """Two questions about each of 5,000 made-up paragraphs, in three parts.

    With --optional-answers, a fifth of the questions have no answer. All paragraphs use the same
    names, so only the right sentence tells the answer.
    """
    rng, missing = random.Random(0), 0.2 if config.optional_answers else 0.0
    rows = [row for _ in range(5000) for row in write_rows(rng, missing)]
    questions = [read_question(row, "made-up questions", config) for row in rows]
    return split_questions(questions, [0.8, 0.1, 0.1])


def write_rows(rng: random.Random, missing: float) -> list[dict]:
    """A paragraph with two facts about each of two people, and questions about two facts."""
    people = [write_name(rng) for _ in range(2)]
    told = [(one, fact) for one in people for fact in rng.sample(FACTS, 2)]
    rng.shuffle(told)
    names = [(one, write_name(rng)) for one, _ in told]
    sentences = [fact[0].format(*pair) for (_, fact), pair in zip(told, names, strict=True)]
    context = " ".join([*sentences[:2], rng.choice(OTHERS), *sentences[2:]])
    rows = []
    for _ in range(2):
        place, side = rng.randrange(len(told)), rng.choice([0, 1])
        (one, fact), pair = told[place], names[place]
        start = context.index(sentences[place])
        start += sentences[place].index(pair[side], len(pair[0]) if side else 0)
        answers = [{"text": pair[side], "answer_start": start}]
        if rng.random() < missing:  # a fact that the paragraph does not tell
            fact = rng.choice([other for other in FACTS if (one, other) not in told])
            side, answers = 1, []
        question = fact[2 - side].format(pair[1 - side])
        rows.append({"context": context, "question": question, "answers": answers})
    return rows


def write_name(rng: random.Random) -> str:
    """One or two words."""
    name = rng.choice(STARTS.split()) + rng.choice(ENDS.split())
    return f"{name} {rng.choice(SECONDS)}" if rng.random() < 0.3 else name


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


def split_questions(
    questions: list[Question], shares: list[float], source: str = "the data"
) -> list[list[Question]]:
    """Splits of these sizes, the same in each run. Questions about one text stay together.

    `source` is for error messages.
    """
    contexts = list(dict.fromkeys(question.context for question in questions))
    if len(contexts) < 10 and shares[0] < 1:
        raise SystemExit(
            f"{source}: questions about {len(contexts)} texts can't be split into training, "
            "validation and test: use 10 texts or more."
        )
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    parts = [set(part) for part in random_split(contexts, shares, generator=rng)]
    return [[one for one in questions if one.context in part] for part in parts]


def number_pieces(text: str, pieces: list[tuple[int, int]]) -> list[int]:
    """The id of a piece is its hash, so no vocabulary is needed."""
    return [2 + crc32(text[start:end].encode()) % (PIECES - 2) for start, end in pieces]


def split_pieces(text: str) -> list[tuple[int, int]]:
    """Where the tokens of a text start and end: other characters, and words in pieces of eight."""
    return [piece.span() for piece in re.finditer(r"\w{1,8}|[^\w\s]", text)]


def encode(questions: list[Question], config) -> Iterator[tuple[int, list[int], int, list]]:
    """For each window: the index of its question, tokens, the first text token, and their places.

    A question has at most a quarter of the tokens. A place is the first character of a token of
    the text, and the one after its last.
    """
    for index, row in enumerate(questions):
        asked = split_pieces(row.question)[: config.max_length // 4]
        head = [START, *number_pieces(row.question, asked), END]
        pieces, room = split_pieces(row.context), config.max_length - len(head)
        for begin in range(0, max(len(pieces) - config.overlap, 1), room - config.overlap):
            part = pieces[begin : begin + room]
            yield index, head + number_pieces(row.context, part), len(head), part


def find_span(question: Question, first: int, starts: array, ends: array) -> tuple[int, int]:
    """The first and the last token of an answer that is completely in a window, or 0 and 0."""
    for start, words in question.answers:
        end = start + len(words)
        if starts and starts[0] <= start and end <= ends[-1]:
            return first + bisect_right(ends, start), first + bisect_left(starts, end) - 1
    return 0, 0


def make_windows(questions: list[Question], config, number: int = 0) -> list[Window]:
    """The windows of questions, which are numbered from `number`."""
    if config.overlap > config.max_length // 2:
        raise SystemExit(f"--overlap {config.overlap} is more than half of --max-length.")
    windows = []
    for row, tokens, first, offsets in encode(questions, config):
        starts, ends = (array("i", [offset[side] for offset in offsets]) for side in (0, 1))
        span = find_span(questions[row], first, starts, ends)
        place = (questions[row], number + row, array("i", tokens), first, starts, ends, span)
        windows.append(Window(*place, config.max_answer, config.optional_answers))
    return windows


@cache
def build_datasets(config) -> list[list[Window]]:
    """The windows for training, validation and test.

    A question whose answers are in no window is not trained on: all of its windows would say that
    it has no answer. It counts in the other splits.
    """
    parts, number = [], 0
    for questions in load_questions(config):
        parts.append(make_windows(questions, config, number))
        number += len(questions)
    found = {window.number for window in parts[0] if window.span != (0, 0)}
    parts[0] = [w for w in parts[0] if w.number in found or not w.question.answers]
    if not parts[0]:
        raise SystemExit("No window contains an answer of the training data: raise --max-length.")
    return parts


def count_cut(config) -> list[int]:
    """How many questions of the training, validation and test data have answers in no window."""
    counts = []
    for questions, windows in zip(load_questions(config), build_datasets(config), strict=True):
        found = {window.number for window in windows if window.span != (0, 0)}
        counts.append(sum(bool(question.answers) for question in questions) - len(found))
    return counts


def collate(windows: list[Window]) -> tuple[Tensor, Tensor, Tensor, Tensor, list[Window]]:
    """A batch of tokens, mask, types and spans, padded to the longest window, and the windows."""
    tokens = [torch.tensor(window.tokens, dtype=torch.long) for window in windows]
    tokens = pad_sequence(tokens, batch_first=True)
    places = torch.arange(tokens.shape[1])
    lengths = torch.tensor([len(window.tokens) for window in windows]).unsqueeze(1)
    firsts = torch.tensor([window.first for window in windows]).unsqueeze(1)
    mask = places < lengths
    types = ((places >= firsts) & mask).long()
    return tokens, mask, types, torch.tensor([window.span for window in windows]), windows


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
