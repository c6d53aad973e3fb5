#: file
"""The data: batches of tokens, their mask and types, and labels.

Tokens, mask and types have the shape (batch, choices, length): in each row, a text and a choice
that may follow it. A type is 1 for tokens of the choice, else 0. The mask is False where a row is
padded, and in all rows that pad a sample with fewer choices. Labels, (batch,), are the indices
of the right choices.
"""

from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor


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


#: region row_reader
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


#: end row_reader


#: slot load_splits


#: slot load_questions


#: slot row_readers


#: slot split_rows


#: slot tokenizer


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
    #: slot longest
    tokens = torch.zeros(len(samples), most, longest, dtype=torch.long)
    mask, types = torch.zeros_like(tokens, dtype=torch.bool), torch.zeros_like(tokens)
    for row, sample in enumerate(samples):
        for column, (choice, first) in enumerate(sample.choices):
            tokens[row, column, : len(choice)] = choice
            mask[row, column, : len(choice)] = True
            types[row, column, first : len(choice)] = 1
    return tokens, mask, types, torch.tensor([sample.label for sample in samples])


#: slot datasets


#: slot build_loaders
#: end file

import random
from collections.abc import Iterator

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from lib.access import check_hub
from lib.hub import load_splits
from lib.json_lines import holds_objects, read_objects
from lib.names import describe_parts
from lib.notes import note_ignored, rename_keys
from lib.tables import read_table
from accelerate import PartialState
from lib.tokenizers import END, START, number_pieces, shorten, split_pieces

#: slot train_batches
collate_fn=collate,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate, **settings)
test_loader = DataLoader(test_set, collate_fn=collate, **settings)

#: slot load_questions when dataset=rules
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

#: slot load_questions when dataset=file
# what read_question() reads
KEYS = {"context", "question", "question_stem", "choices", "label", "answerKey", "sent1", "sent2"}
KEYS |= {f"ending{number}" for number in range(100)}


@cache
def load_questions(config) -> list[list[Question]]:
    """Questions for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_rows(read_questions(config.path, config), [1 - sum(shares), *shares], config.path)
    files = ["", *paths]
    return [
        read_questions(path, config) if path else part
        for path, part in zip(files, parts, strict=True)
    ]


def read_questions(path: str, config) -> list[Question]:
    """The questions of a file, each with the index of the right choice."""
    found = list(read_objects(path) if holds_objects(path) else read_table(path))
    questions, rows = [], rename_keys(found, config.rename)
    for place, row in rows:
        check_keys(row, place)
        question = read_question(row, place)
        if question.label < 0:
            raise SystemExit(
                f"{place}: it has no label, the index of the right choice. If it has another "
                "name, set --rename, such as answer=label."
            )
        questions.append(question)
    if not questions:
        raise SystemExit(f"{path} has no rows.")
    note_ignored(path, (name for _, row in rows for name in row), KEYS)
    return questions

#: slot load_questions when dataset=file|huggingface
def check_keys(row: dict, place: str) -> None:
    """Stop if a row has a text under two names: only one of them would be read."""
    found = [name for name in ("question", "question_stem") if row.get(name)]
    if found and row.get("context"):
        raise SystemExit(
            f"{place} has a context and a {found[0]}: join them in context, and leave out the "
            f"{found[0]}."
        )

#: slot load_questions when dataset=huggingface
@cache
def load_questions(config) -> list[list[Question]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A split that is missing or has no labels, such as SWAG's test split, is replaced by a tenth of
    the training data.
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
        for place, row in renamed:
            check_keys(row, place)
        questions = [read_question(row, place) for place, row in renamed]
        parts[part] = [question for question in questions if question.label >= 0]
    for part in ("validation", "test"):
        if not parts[part]:
            parts["train"], parts[part] = split_rows(parts["train"], [0.9, 0.1], name)
    return list(parts.values())

#: slot tokenizer when model=encoder
def encode(pairs: list[tuple[str, str]], config) -> Iterator[tuple[list[int], int]]:
    """The tokens of each text and its choice, and the first one of the choice.

    If it is too long, the beginning of the text is cut. A choice has at most half of the tokens.
    """
    for context, choice in pairs:
        last = number_pieces(choice, split_pieces(choice))[: config.max_length // 2]
        room = config.max_length - len(last) - 2
        head = [START, *number_pieces(context, split_pieces(context))[-room:], END]
        yield head + last, len(head)

#: slot tokenizer when model=pretrained
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model, which can tell texts and choices apart."""
    name = config.pretrained_name
    check_hub(name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
    if not tokenizer.is_fast:
        raise SystemExit(
            f"The tokenizer of {name!r} is slow: it does not say where a choice begins: "
            "choose a model with a tokenizer.json."
        )
    return tokenizer


def encode(pairs: list[tuple[str, str]], config) -> Iterator[tuple[list[int], int]]:
    """The tokens of each text and its choice, and the first one of the choice.

    If it is too long, the longer of the two is cut at the end.
    """
    tokenizer, most, size = build_tokenizer(config), config.max_length, 1000
    for begin in range(0, len(pairs), size):
        # to cut two long texts, the tokenizer needs memory for the product of their lengths
        contexts, choices = (
            [shorten(text, most, tokenizer) if len(text) > 4 * most else text for text in texts]
            for texts in zip(*pairs[begin : begin + size], strict=True)
        )
        batch = tokenizer(contexts, choices, truncation="longest_first", max_length=most)
        for row, tokens in enumerate(batch["input_ids"]):
            parts = batch.sequence_ids(row)  # a choice of only whitespace has no tokens
            yield tokens, parts.index(1) if 1 in parts else len(tokens)

#: slot longest with tpu
longest += -longest % 32  # because XLA compiles the step for each new length

#: slot after_datasets when dataset=file|huggingface
PartialState().print(describe_parts("questions", map(len, load_questions(config)), config))

#: replace row_reader when dataset=rules project.loop=minimal
