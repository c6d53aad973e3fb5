#: file
"""The data: batches of tokens, their mask and types, spans, and windows.

The model sees a window: a question, and as much of its text as fits. Tokens, mask and types have
the shape (batch, length). The mask is False where a shorter window is padded, and a type is 1 for
tokens of the text, else 0. Spans, (batch, 2), are the first and the last token of the answer, both
0 if the window has none. Windows is a list of `Window`, with the texts of the tokens.
"""

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import random_split


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


#: slot load_splits


#: slot load_questions


#: slot row_readers


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


#: slot tokenizer


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
    #: region padding
    tokens = pad_sequence(tokens, batch_first=True)
    #: end padding
    places = torch.arange(tokens.shape[1])
    lengths = torch.tensor([len(window.tokens) for window in windows]).unsqueeze(1)
    firsts = torch.tensor([window.first for window in windows]).unsqueeze(1)
    mask = places < lengths
    types = ((places >= firsts) & mask).long()
    return tokens, mask, types, torch.tensor([window.span for window in windows]), windows


#: slot datasets


#: slot build_loaders
#: end file

import random
import zlib
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch.utils.data import ConcatDataset, Dataset, Subset
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from lib.access import check_hub
from lib.hub import load_splits
from lib.json_lines import find_kind, holds_objects, open_text, parse, read_objects
from lib.names import describe_parts
from lib.notes import note_ignored, rename_keys
from accelerate import PartialState
from lib.tokenizers import END, START, number_pieces, shorten, split_pieces

#: slot train_batches
collate_fn=collate,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate, **settings)
test_loader = DataLoader(test_set, collate_fn=collate, **settings)

#: slot load_questions when dataset=facts
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

#: slot load_questions when dataset=squad
@cache
def load_questions(config) -> list[list[Question]]:
    """Questions for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    questions = read_questions(config.path, config)
    parts = split_questions(questions, [1 - sum(shares), *shares], config.path)
    files = ["", *paths]
    return [
        read_questions(path, config) if path else part
        for path, part in zip(files, parts, strict=True)
    ]


def read_questions(path: str, config) -> list[Question]:
    """The questions of a file as SQuAD has it, or of rows in JSON or Parquet."""
    is_whole = find_kind(path) == "json" or not holds_objects(path)
    rows = read_articles(path) if is_whole else list(read_objects(path))
    rows = rename_keys(rows, config.rename)
    if not (questions := [read_question(row, place, config) for place, row in rows]):
        raise SystemExit(f"{path} has no questions.")
    known = ["context", "question", "answers", "is_impossible", "id", "title", "plausible_answers"]
    note_ignored(path, (name for _, row in rows for name in row), known)
    return questions


def read_articles(path: str) -> list[tuple[str, dict]]:
    """The questions of a SQuAD 1 or 2 file with their texts, and where each one is."""
    rows, place = [], path
    try:
        with open_text(path) as file:
            text = file.read()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    if text.lstrip().startswith("["):
        return list(read_objects(path))
    try:
        whole = parse(text, path)
        if not isinstance(whole, dict):
            raise SystemExit(f"{path} is not a JSON object with 'data', as SQuAD has it.")
        for article, entry in enumerate(whole["data"]):
            place = f"{path}, data[{article}]"
            for number, paragraph in enumerate(entry["paragraphs"]):
                place = f"{path}, data[{article}].paragraphs[{number}]"
                for index, row in enumerate(paragraph["qas"]):
                    place = f"{path}, data[{article}].paragraphs[{number}].qas[{index}]"
                    rows.append((place, {"context": paragraph["context"], **row}))
    except KeyError as error:
        raise SystemExit(f"{place}: there is no {error}, as in SQuAD.") from error
    except (TypeError, ValueError) as error:
        raise SystemExit(f"{place} is not JSON in SQuAD's format: {error}") from error
    return rows

#: slot load_questions when dataset=huggingface
@cache
def load_questions(config) -> list[list[Question]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A missing split is replaced by a tenth of the texts of the training data.
    """
    name = config.dataset_name
    dataset = load_splits(config)
    parts = {}
    for part in ("train", "validation", "test"):
        rows = [
            (f"{name}, {part}, row {number}", row)
            for number, row in enumerate(dataset.get(part, []), start=1)
        ]
        renamed = rename_keys(rows, config.rename if rows else "")
        parts[part] = [read_question(row, place, config) for place, row in renamed]
    train_questions = parts["train"]
    for part in ("validation", "test"):
        if not parts.get(part):
            train_questions, parts[part] = split_questions(train_questions, [0.9, 0.1], name)
    return [train_questions, parts["validation"], parts["test"]]

#: slot tokenizer when model=encoder
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

#: slot tokenizer when model=pretrained
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model, which maps tokens to characters."""
    name = config.pretrained_name
    check_hub(name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
    if not tokenizer.is_fast:
        raise SystemExit(
            f"The tokenizer of {name!r} is slow: it does not say where a token is in its "
            "text: choose a model with a tokenizer.json."
        )
    return tokenizer


def encode(questions: list[Question], config) -> Iterator[tuple[int, list[int], int, list]]:
    """For each window: the index of its question, tokens, the first text token, and their places.

    A question has at most a quarter of the tokens. A place is the first character of a token of
    the text, and the one after its last.
    """
    tokenizer, size = build_tokenizer(config), 1000
    settings = {"max_length": config.max_length, "stride": config.overlap}
    settings |= {"truncation": "only_second", "return_overflowing_tokens": True}
    for begin in range(0, len(questions), size):
        rows = questions[begin : begin + size]
        asked = [shorten(row.question, config.max_length // 4, tokenizer) for row in rows]
        texts = [row.context for row in rows]
        batch = tokenizer(asked, texts, return_offsets_mapping=True, **settings)
        for window, index in enumerate(batch["overflow_to_sample_mapping"]):
            parts = batch.sequence_ids(window)
            first = parts.index(1) if 1 in parts else len(parts)
            offsets = batch["offset_mapping"][window][first : first + parts.count(1)]
            yield begin + index, batch["input_ids"][window], first, offsets

#: replace cross_validation_datasets with cross_validation
def take_fold(train_set, val_set, config) -> tuple[Dataset, Dataset]:
    """Divide training and validation data into folds, and hold one of them out.

    Windows of a text are in the same fold.
    """
    folds, fold = config.cross_validation_folds, config.cross_validation_fold
    if not fold < folds:
        raise SystemExit(f"--cross-validation-fold {fold}: {folds} folds are counted from 0.")
    both = ConcatDataset([train_set, val_set])
    contexts = {context: place for place, context in enumerate(dict.fromkeys(map(text_of, both)))}
    if len(contexts) < folds:
        raise SystemExit(f"--cross-validation-folds {folds}: there are {len(contexts)} texts.")
    # a fixed seed: the folds are the same for any --seed
    order = torch.randperm(len(contexts), generator=torch.Generator().manual_seed(0)).tolist()
    held = [order[contexts[text_of(window)]] % folds == fold for window in both]
    rest, fold = ([row for row, one in enumerate(held) if one == out] for out in (False, True))
    return Subset(both, rest), Subset(both, fold)


def text_of(window: Window) -> str:
    return window.question.context

#: replace cross_validation_after_datasets with cross_validation
train_set, val_set = take_fold(train_set, val_set, config)

#: replace padding with tpu
tokens = pad_sequence(tokens, batch_first=True)
# pad to a multiple of 32, because XLA recompiles the step for each new length
tokens = F.pad(tokens, (0, -tokens.shape[1] % 32))

#: slot after_datasets when dataset=squad|huggingface
PartialState().print(describe_parts("questions", map(len, load_questions(config)), config))
without = sum(not one.answers for one in load_questions(config)[0])
PartialState().print(f"{without:,} questions of the training data have no answer")
