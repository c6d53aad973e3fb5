#: file
"""The data: batches of token ids and their mask, shape (batch, longest text), and {{ task.labelled }}.

Batches are dictionaries with the argument names of transformers.
"""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

#: region row
Row = tuple[tuple[str, ...], str]  # a text or a pair of texts, and the name of its class
Sample = tuple[tuple[str, ...], int]  # the same with a label, an index into the names
#: end row


#: slot load_splits


#: slot texts


#: slot row_readers


#: slot split_rows


#: region class_names
def class_names(config) -> list[str]:
    """The names of the classes. A label is an index into this list."""
    return sorted({name for part in load_texts(config) for _, name in part})


#: end class_names


#: slot tokenizer


#: region build_datasets
def build_datasets(config) -> list[list[Sample]]:
    """Training, validation and test data: the text of each sample, or a pair, and its label."""
    labels = {name: label for label, name in enumerate(class_names(config))}
    return [[(texts, labels[name]) for texts, name in part] for part in load_texts(config)]


#: end build_datasets


def collate(
    rows: list[Sample], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> dict[str, Tensor]:
    """A batch of texts, padded to the longest, and their labels."""
    texts, labels = zip(*rows, strict=True)
    return {**tokenize(texts, tokenizer, max_length), "labels": torch.tensor(labels)}


def tokenize(
    texts: Sequence[tuple[str, ...]], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> dict[str, Tensor]:
    """The token ids of texts, or of pairs, and their mask, padded to the longest."""
    #: region columns when dataset=library|reviews
    columns = [list(column) for column in zip(*texts, strict=True)]
    #: end columns
    #: region shortened_columns when dataset=csv|huggingface
    columns = [list(column) for column in zip(*texts, strict=True)]
    if len(columns) > 1:  # cutting two long texts takes memory for the product of their lengths
        most = 20 * max_length  # characters: a token has far fewer than 20
        columns = [[text[:most] for text in column] for column in columns]
    #: end shortened_columns
    #: region padding
    settings = {"padding": True, "truncation": True, "max_length": max_length}
    #: end padding
    return tokenizer(*columns, return_tensors="pt", **settings)


def count_cut(config) -> int:
    """How many of the first 1,000 training texts fill --max-length."""
    texts = [texts for texts, _ in load_texts(config)[0][:1000]]
    mask = tokenize(texts, build_tokenizer(config), config.max_length)["attention_mask"]
    return int((mask.sum(dim=1) == config.max_length).sum())


#: slot datasets


#: slot build_loaders
#: end file

import sysconfig
from functools import cache, partial
from math import isnan
from pathlib import Path
from random import Random

from datasets import ClassLabel
from transformers import AutoTokenizer, RobertaTokenizer

from lib.access import check_hub
from lib.cells import parse_number, split_labels
from lib.hub import load_splits
from lib.json_lines import holds_objects, read_objects
from lib.names import check_names, check_spelling, describe_names, describe_parts
from lib.notes import note_ignored
from lib.splits import find_shares, split_by_class
from lib.tables import read_table
from accelerate import PartialState

#: slot after_datasets when dataset=csv with class_counts
check_classes(config)

#: slot after_datasets when dataset=huggingface with class_counts
check_classes(config)

#: slot after_datasets when dataset=csv|huggingface labels=one
PartialState().print(describe_parts("texts", map(len, load_texts(config)), config))
PartialState().print(describe_names((name for _, name in load_texts(config)[0]), "classes"))

#: slot after_datasets when dataset=csv|huggingface labels=many
PartialState().print(describe_parts("texts", map(len, load_texts(config)), config))
PartialState().print(describe_names((name for _, names in load_texts(config)[0] for name in names), "labels"))

#: slot after_datasets when dataset=csv|huggingface labels=number
numbers = [number for _, number in load_texts(config)[0]]
PartialState().print(describe_parts("texts", map(len, load_texts(config)), config))
PartialState().print(f"numbers from {min(numbers):g} to {max(numbers):g}")

#: slot after_datasets
tokenizer = build_tokenizer(config)
collate_fn = partial(collate, tokenizer=tokenizer, max_length=config.max_length)

#: slot train_batches
collate_fn=collate_fn,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate_fn, **settings)
test_loader = DataLoader(test_set, collate_fn=collate_fn, **settings)

#: replace few
f"{source}: {len(rows)} texts can't be split into training, validation and test: use "
"10 or more."

#: slot texts when dataset=library
PACKAGES = ["asyncio", "email", "http", "importlib", "logging", "multiprocessing", "unittest", "xml"]


@cache
def load_texts(config) -> list[list[Row]]:
    """Paragraphs of Python's own library, each with its package, in three parts."""
    library = Path(sysconfig.get_path("stdlib"))
    found = {}  # a dictionary drops duplicates
    for package in PACKAGES:
        for path in sorted((library / package).rglob("*.py")):
            if "test" not in path.parts:  # some systems don't install the tests
                for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
                    if len(paragraph.split()) >= 8:
                        found[(paragraph,)] = package
    return split_rows(list(found.items()), [0.8, 0.1, 0.1])

#: slot texts when dataset=csv
@cache
def load_texts(config) -> list[list[Row]]:
    """Rows for training, validation and test. A split without a file is a share of `path`."""
    paths = [config.val_path, config.test_path]
    shares = find_shares(paths, config)
    parts = split_rows(read_rows(config.path, config), [1 - sum(shares), *shares], config.path)
    files = ["", *paths]
    return [
        read_rows(path, config) if path else part for path, part in zip(files, parts, strict=True)
    ]


def read_lines(path: str, columns: list[str]) -> list[tuple[str, dict]]:
    """The rows of a .csv, .tsv or .jsonl file, with these columns, and where each row is."""
    rows = list(read_objects(path) if holds_objects(path) else read_table(path))
    if not rows:
        raise SystemExit(f"{path} has no rows.")
    for place, row in rows:
        for column in columns:
            if column not in row:
                raise SystemExit(
                    f"{place}: there is no {column!r} in {', '.join(map(str, row))}. "
                    #: region columns_to_set
                    "Set --text-columns and --label-column."
                    #: end columns_to_set
                )
            cell = row[column]
            missing = cell is None or isinstance(cell, float) and isnan(cell)
            if missing or isinstance(cell, bytes | dict):
                raise SystemExit(f"{place}: its {column} is {cell!r:.60}, not text.")
    if columns:
        note_ignored(path, (name for _, row in rows for name in row), columns)
    return rows


def read_texts(row: dict, place: str, config) -> tuple[str, ...]:
    """The text of a row, or a pair. A number is a text, too."""
    columns = config.text_columns.split(",")
    for column in columns:
        if isinstance(row[column], list):
            raise SystemExit(f"{place}: its {column} is {row[column]!r:.60}, not text.")
    texts = tuple(str(row[column]) for column in columns)
    if not any(text.strip() for text in texts):
        raise SystemExit(f"{place}: its {config.text_columns} is empty.")
    return texts


#: region read_rows
def read_rows(path: str, config) -> list[Row]:
    """The texts and the class of each row of a file."""
    rows, places = [], {}
    for place, row in read_lines(path, [*config.text_columns.split(","), config.label_column]):
        name = row[config.label_column]
        if isinstance(name, list) or not str(name).strip():
            raise SystemExit(f"{place}: its {config.label_column} is {name!r:.60}, not a class.")
        if str(name) != str(name).strip():
            raise SystemExit(f"{place}: the class {name!r} begins or ends with a space.")
        rows.append((read_texts(row, place, config), str(name)))
        places.setdefault(str(name), place)
    check_spelling(places, "class")
    return rows
#: end read_rows

#: slot texts when dataset=huggingface
@cache
def load_texts(config) -> list[list[Row]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A split that is missing or has no labels, as in GLUE, is a share of the training data.
    """
    dataset = load_splits(config)
    found = {part: read_rows(dataset[part], config) for part in dataset}
    apart = [found.get("validation"), found.get("test")]
    shares = find_shares(apart, config)
    parts = split_rows(found["train"], [1 - sum(shares), *shares], config.dataset_name)
    return [rows or part for rows, part in zip([None, *apart], parts, strict=True)]


def read_rows(part, config) -> list[Row]:
    """Texts and {{ task.names }} of the samples that have {{ task.one }}."""
    text_columns = config.text_columns.split(",")
    #: region label_column
    label_column = config.label_column
    #: end label_column
    for column in [*text_columns, label_column]:
        if column not in part.features:
            raise SystemExit(
                f"{config.dataset_name} has no column {column!r}, only {', '.join(part.features)}. "
                #: region columns_to_set
                "Set --text-columns and --label-column."
                #: end columns_to_set
            )
    texts = list(zip(*(part[column] for column in text_columns), strict=True))
    for number, row in enumerate(texts, start=1):
        if not all(isinstance(text, str) for text in row):
            place = f"{config.dataset_name}, row {number} of {part.split}"
            raise SystemExit(f"{place}: {config.text_columns} is {row!r:.60}, not texts.")
    #: region read_labels
    labels, feature = part[label_column], part.features[label_column]
    if isinstance(feature, ClassLabel):
        names = dict(enumerate(feature.names))  # without -1, which means no label
    else:
        names = {label: str(label) for label in set(labels) - {None}}
        source = f"{config.dataset_name}, {part.split}"
        check_spelling(dict.fromkeys(sorted(names.values()), source), "class")
    return [(row, names[label]) for row, label in zip(texts, labels, strict=True) if label in names]
    #: end read_labels

#: slot texts when dataset=reviews
TOPICS = {
    "food": ["The breakfast", "The coffee in the morning", "Dinner on the terrace"],
    "location": ["The street", "The walk to the beach", "The view from the window"],
    "price": ["The bill", "What we paid", "The price for two nights"],
    "room": ["The bed", "The bathroom", "Our room on the second floor"],
    "staff": ["The man at the desk", "The owner", "Everybody who works there"],
}
OPINIONS = {
    1: ["made us happy", "was better than we had hoped", "was a pleasure"],
    -1: ["made us angry", "was worse than last year", "was a disappointment"],
}
OTHERS = ["We came by train.", "It rained on Sunday.", "My sister was with us.", "It was in May."]


def write_review(rng: Random) -> tuple[str, dict[str, int]]:
    """A hotel review, and its topics: 1 for a good one, -1 for a bad one."""
    topics = rng.sample(list(TOPICS), rng.randint(0, 3))
    opinions = {topic: rng.choice([1, -1]) for topic in topics}
    sentences = [rng.choice(OTHERS)]
    for topic, opinion in opinions.items():
        sentences.append(f"{rng.choice(TOPICS[topic])} {rng.choice(OPINIONS[opinion])}.")
    rng.shuffle(sentences)
    return " ".join(sentences), opinions


@cache
def load_texts(config) -> list[list[Row]]:
    """Made-up reviews of hotels, each with {{ task.reviewed }}, in three parts."""
    rng, found = Random(0), {}  # a dictionary drops duplicates
    while len(found) < 3000:
        text, opinions = write_review(rng)
        #: region found
        ...
        #: end found
    return split_rows(list(found.items()), [0.8, 0.1, 0.1])

#: replace row when labels=many
Row = tuple[tuple[str, ...], tuple[str, ...]]  # a text or a pair of texts, and names of labels
Sample = tuple[tuple[str, ...], list[float]]  # the same with 1 for each of its labels, otherwise 0

#: replace columns_to_set when dataset=csv|huggingface labels=many
"Set --text-columns and --labels-column."

#: replace label_column when dataset=huggingface labels=many
label_column = config.labels_column

#: replace class_names when labels=many
def class_names(config) -> list[str]:
    """The names of the labels, in the order of the model's outputs."""
    return sorted({name for part in load_texts(config) for _, names in part for name in names})

#: replace build_datasets when labels=many
def build_datasets(config) -> list[list[Sample]]:
    """Training, validation and test data: the text of each sample, or a pair, and its labels.

    A label is 1 if the sample has it, otherwise 0.
    """
    names = class_names(config)
    return [
        [(texts, [float(name in found) for name in names]) for texts, found in part]
        for part in load_texts(config)
    ]

#: replace row when labels=number
Row = tuple[tuple[str, ...], float]  # a text or a pair of texts, and a number
Sample = Row

#: replace columns_to_set when dataset=csv|huggingface labels=number
"Set --text-columns and --number-column."

#: replace label_column when dataset=huggingface labels=number
label_column = config.number_column

#: replace class_names when labels=number
def fit_scale(config) -> tuple[float, float]:
    """The mean and the standard deviation of the numbers of the training data."""
    numbers = torch.tensor([number for _, number in load_texts(config)[0]], dtype=torch.float64)
    std, mean = torch.std_mean(numbers)
    error = (numbers - numbers.float()).abs().max()
    if std > 0 and not error < 0.01 * std:
        raise SystemExit(
            #: region numbers
            "There are numbers "
            #: end numbers
            f"that 32 bits can't tell apart, such as {numbers[0]:.10g}: subtract a constant."
        )
    return float(mean), float(std) if std > 0 else 1.0  # 1 if all are equal

#: replace build_datasets when labels=number
def build_datasets(config) -> list[list[Sample]]:
    """Training, validation and test data: the text of each sample, or a pair, and its number."""
    return load_texts(config)

#: slot tokenizer when model=roberta
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """A tokenizer like RoBERTa's, trained on the training data."""
    return train_tokenizer(tuple(text for texts, _ in load_texts(config)[0] for text in texts))


@cache
def train_tokenizer(texts: tuple[str, ...]) -> PreTrainedTokenizerBase:
    tokenizer = RobertaTokenizer()
    return tokenizer.train_new_from_iterator(texts, vocab_size=4096, show_progress=False)

#: slot tokenizer when model=pretrained
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model."""
    name = config.pretrained_name
    check_hub(name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, padding_side="right")
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
    if tokenizer.pad_token is None:  # as in GPT-2; the mask hides it
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
        if tokenizer.pad_token is None:
            raise SystemExit(f"The tokenizer of {name!r} has no token for padding.")
    return tokenizer

#: slot texts when dataset=csv with evaluate
def list_rows(path: str) -> list[dict]:
    """All columns of the rows of a file."""
    return [row for _, row in read_lines(path, [])]

#: replace numbers when dataset=csv labels=number
f"{config.path}: its {config.number_column} has numbers "

#: replace numbers when dataset=huggingface labels=number
f"{config.dataset_name}: its {config.number_column} has numbers "

#: replace read_rows when dataset=csv labels=many
def read_rows(path: str, config) -> list[Row]:
    """The texts of each row of a file, and the names of its labels."""
    rows, places, single = [], {}, {}
    for place, row in read_lines(path, [*config.text_columns.split(","), config.labels_column]):
        cell, mark = row[config.labels_column], config.label_separator
        names = split_labels(cell, mark)
        if names is None:
            raise SystemExit(
                f"{place}: its {config.labels_column} are {cell!r}, not names separated by "
                f"{mark!r}, or a list of names."
            )
        rows.append((read_texts(row, place, config), names))
        places = {**dict.fromkeys(names, place), **places}
        if isinstance(cell, str) and names == (cell.strip(),):  # and not a list
            single.setdefault(cell, place)
    for other in ("|", ";"):
        found = [name for name in single if other in name]
        if found and all(len(names) < 2 for _, names in rows):
            raise SystemExit(
                f"{single[found[0]]}: are the labels {found[0]!r} separated by {other!r}? Set "
                f"--label-separator {other!r}. If not, write lists of names in JSON."
            )
    check_spelling(places, "label")
    return rows

#: replace read_rows when dataset=csv labels=number
def read_rows(path: str, config) -> list[Row]:
    """The texts of each row of a file, and its number."""
    rows = []
    for place, row in read_lines(path, [*config.text_columns.split(","), config.number_column]):
        cell = row[config.number_column]
        number = parse_number(cell)
        if number is None:
            raise SystemExit(f"{place}: its {config.number_column} is {cell!r}, not a number.")
        rows.append((read_texts(row, place, config), number))
    return rows

#: replace read_labels when dataset=huggingface labels=many
feature = getattr(part.features[label_column], "feature", None)  # the type of the list items
if feature is None:
    raise SystemExit(
        f"{config.dataset_name}: the column {label_column!r} holds {part.features[label_column]}, "
        "not lists: set --labels-column."
    )
to_name = feature.int2str if isinstance(feature, ClassLabel) else str
return [
    (row, tuple(map(to_name, found)))
    for row, found in zip(texts, part[label_column], strict=True)
    if found is not None
]

#: replace read_labels when dataset=huggingface labels=number
numbers = part[label_column]
if any(number is not None and not isinstance(number, (int, float)) for number in numbers):
    raise SystemExit(
        f"{config.dataset_name}: the column {label_column!r} does not hold numbers: set "
        "--number-column."
    )
rows = zip(texts, numbers, strict=True)
return [(row, float(number)) for row, number in rows if number is not None]

#: replace found when dataset=reviews labels=many
found[(text,)] = tuple(opinions)

#: replace found when dataset=reviews labels=number
# from 1 to 5 stars; 3 if it has no opinion
found[(text,)] = 3 + 2 * sum(opinions.values()) / max(len(opinions), 1)

#: replace padding with tpu
# pad to a fixed length, because XLA recompiles the step for each new one
settings = {"padding": "max_length", "truncation": True, "max_length": max_length}

#: replace divide when dataset=csv|huggingface labels=one
labels = [name for _, name in rows]
return [[rows[number] for number in part] for part in split_by_class(labels, shares[1:])]

#: slot datasets when dataset=csv|huggingface labels=one
def check_classes(config) -> None:
    """Stop if there is one class alone, or if a file has other classes than the training data."""
    parts = [[(name,) for _, name in part] for part in load_texts(config)]
    source, *others = list_sources(config)
    if len(names := class_names(config)) == 1:
        raise SystemExit(f"{source}: all texts have the class {names[0]}: a classifier needs two.")
    check_names(parts, others, "class", find_place)

#: slot datasets when dataset=csv|huggingface labels=many
def check_classes(config) -> None:
    """Stop if there are no labels, or if a file has other labels than the training data."""
    parts = [[names for _, names in part] for part in load_texts(config)]
    source, *others = list_sources(config)
    if not class_names(config):
        raise SystemExit(f"{source}: no text has a label: set --labels-column.")
    check_names(parts, others, "label", find_place)

#: slot datasets when dataset=csv labels=one|many
def list_sources(config) -> list[str]:
    """The files of the three parts. A part without one is a share of the first file."""
    return [config.path, config.val_path, config.test_path]


def find_place(path: str, number: int) -> str:
    """Where a row of a file is, for error messages."""
    return read_lines(path, [])[number][0]

#: slot datasets when dataset=huggingface labels=one|many
def list_sources(config) -> list[str]:
    """The splits of the three parts. A part without one is a share of the first split."""
    splits = load_splits(config)
    parts = ["train", "validation", "test"]
    return [f"{config.dataset_name}, {part}" if splits.get(part) else "" for part in parts]


def find_place(split: str, number: int) -> str:
    """Where a row is, for error messages. Its number is unknown: those without labels are gone."""
    return split

