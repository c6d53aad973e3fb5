#: file
"""The data: batches of inputs, which are tokens, a mask, and targets, all of shape (batch, length).

A word has one or more tokens. The target of its first token is the index of its tag; those of all
other tokens are IGNORED. The mask is False where a shorter sentence is padded.
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from metrics import IGNORED

Sentence = tuple[list[str], list[str]]  # words, and the tag of each
Sample = tuple[Tensor, Tensor]  # tokens and targets, both of shape (length,)


#: slot load_splits


#: slot load_sentences


#: slot row_readers


#: slot split_rows


def tag_names(config) -> list[str]:
    """The tags. A target is an index into this list.

    O is outside entities. Each type has two tags: B- for the first word, and I- for the rest.
    """
    tags = {tag for part in load_sentences(config) for _, tags in part for tag in tags}
    types = sorted({tag[2:] for tag in tags if tag != "O"})
    return ["O", *(f"{place}-{kind}" for kind in types for place in "BI")]


#: slot tokenizer


@cache
def build_datasets(config) -> list[list[Sample]]:
    """Tokens and targets of each sentence, for training, validation and test."""
    numbers = {name: number for number, name in enumerate(tag_names(config))}
    parts = []
    for sentences in load_sentences(config):
        encoded = encode([words for words, _ in sentences], config)
        samples = []
        for (_, tags), (tokens, starts) in zip(sentences, encoded, strict=True):
            targets = torch.full((len(tokens),), IGNORED)
            for start, tag in zip(starts, tags, strict=False):  # a long sentence is cut
                targets[start] = numbers[tag]
            samples.append((torch.tensor(tokens), targets))
        parts.append(samples)
    return parts


def count_cut(config) -> list[int]:
    """How many words of the training, validation and test data are beyond --max-length."""
    counts = []
    for sentences, samples in zip(load_sentences(config), build_datasets(config), strict=True):
        words = sum(len(words) for words, _ in sentences)
        counts.append(words - sum(int((targets != IGNORED).sum()) for _, targets in samples))
    return counts


def collate(samples: list[Sample]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of tokens, their mask and their targets, padded to the longest sentence."""
    tokens, targets = zip(*samples, strict=True)
    #: region padding
    mask = [torch.ones_like(row, dtype=torch.bool) for row in tokens]
    return (
        pad_sequence(tokens, batch_first=True),
        pad_sequence(mask, batch_first=True),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )
    #: end padding


#: slot datasets


#: slot build_loaders
#: end file

import random
import re
import zlib
from zlib import crc32

from datasets import ClassLabel
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from lib.access import check_hub
from lib.hub import load_splits
from lib.json_lines import holds_objects, open_text, read_objects
from lib.names import check_names, describe_names, describe_parts
from lib.notes import note, note_ignored
from lib.samples import pad

#: replace few
f"{source}: {len(rows)} sentences can't be split into training, validation and test: "
"use 10 or more."

#: slot load_sentences when dataset=entities
STARTS = "Bal Cor Dun Fen Gal Har Kel Lin Mar Nor Pel Quin Ros Sel Tor Ul Ver Wes Yar Zan"
ENDS = "by den dor fell gate ham ion lan mere mond nor ora port rick sen stead ton val wick"
CLAUSES = [
    "PER was born in LOC",
    "PER works for ORG",
    "PER , a painter from LOC , sued ORG",
    "ORG hired PER",
    "ORG opened an office near LOC",
    "ORG , the maker of clocks , bought ORG",
    "shares of ORG fell on Monday",
    "the mayor of LOC wrote to PER",
    "it rained in LOC all March",
    "the train from LOC to LOC was late",
    "LOC , which lies on a river , elected PER",
    "my uncle PER moved to LOC",
    "the lawyers of ORG called PER",
    "PER resigned as head of ORG",
    "the streets of LOC were empty",
    "nobody had heard of it before Easter",
]
LINKS = [",", ", and", ", but", "while", "because", "after"]


@cache
def load_sentences(config) -> list[list[Sentence]]:
    """5,000 sentences about people, organizations and places, in three splits.

    All types share the same names, so only the words around a name tell its type.
    """
    rng = random.Random(0)
    return split_rows([write_sentence(rng) for _ in range(5000)], [0.8, 0.1, 0.1])


def write_sentence(rng: random.Random) -> Sentence:
    """One or two clauses with made-up names of one or two words."""
    text = rng.choice(CLAUSES)
    if rng.random() < 0.5:
        text += f" {rng.choice(LINKS)} {rng.choice(CLAUSES)}"
    words, tags = [], []
    for word in f"{text} .".split():
        if word in ("PER", "ORG", "LOC"):
            names = [write_name(rng) for _ in range(rng.randint(1, 2))]
            words += names
            tags += [f"B-{word}", f"I-{word}"][: len(names)]
        else:
            words.append(word)
            tags.append("O")
    return [words[0].capitalize(), *words[1:]], tags


def write_name(rng: random.Random) -> str:
    return rng.choice(STARTS.split()) + rng.choice(ENDS.split())

#: slot load_sentences when dataset=conll
@cache
def load_sentences(config) -> list[list[Sentence]]:
    """Sentences for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_rows(read_sentences(config.path, config), [1 - sum(shares), *shares], config.path)
    files = ["", *paths]
    return [
        read_sentences(path, config) if path else part
        for path, part in zip(files, parts, strict=True)
    ]


def read_sentences(path: str, config) -> list[Sentence]:
    """The sentences of a file in CoNLL columns, or of rows in JSON or Parquet."""
    sentences = []
    if holds_objects(path):
        columns, names = [config.words_column, config.tags_column], {}
        for place, row in read_objects(path):
            check_keys(row, columns, place)
            names |= row
            sentences.append(check_sentence(*(row[column] for column in columns), place))
        note_ignored(path, names, columns)
    else:
        sentences = read_columns(path, config.tag_column)
    if not (sentences := begin_entities(sentences, path)):
        raise SystemExit(f"{path} has no sentences.")
    return sentences


def check_keys(row: dict, columns: list[str], place: str) -> None:
    for column in columns:
        if column not in row:
            raise SystemExit(
                f"{place}: there is no {column!r} in {', '.join(row)}. "
                "Set --words-column and --tags-column."
            )


def read_columns(path: str, tag_column: int) -> list[Sentence]:
    """Each line has a word and its tag, in columns that spaces or tabs separate.

    A blank line ends a sentence. Lines with -DOCSTART- are left out, and so are comments, which
    begin with # and have no tag, or another number of columns.
    """
    try:
        with open_text(path) as file:
            lines = file.read().split("\n")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    sentences: list[list[tuple[str, list[str]]]] = [[]]  # the place and the cells of each word
    lines = [line.strip(" \t") for line in lines]  # a word may have other spaces
    table = [line.split("\t") if "\t" in line else re.findall("[^ ]+", line) for line in lines]
    left_out = ("#", "-DOCSTART-")
    width = next((len(row) for row in table if row and not row[0].startswith(left_out)), 2)
    for number, cells in enumerate(table, start=1):
        place, line = f"{path}, line {number}", lines[number - 1]
        is_word = len(cells) == width and any(map(is_tag, cells[1:]))
        if not cells:
            sentences.append([])
        elif cells[0] == "-DOCSTART-" or (line.startswith("#") and not is_word):
            continue
        elif len(cells) < 2 or len(cells) != width:
            expected = f"{width} columns" if width > 1 else "a word, a tab and its tag"
            raise SystemExit(f"{place}: {line!r:.60} has {len(cells)} column(s), not {expected}.")
        else:
            sentences[-1].append((place, cells))
    sentences = [rows for rows in sentences if rows]
    if not sentences:
        return []
    word, tag = find_columns([[cells for _, cells in rows] for rows in sentences], path, tag_column)
    found = []
    for rows in sentences:
        tags = [check_sentence(cells[:1], [cells[tag]], place)[1][0] for place, cells in rows]
        found.append(([cells[word] for _, cells in rows], tags))
    return found


# of CoNLL-2000
CHUNKS = ("ADJP", "ADVP", "CONJP", "INTJ", "LST", "NP", "PP", "PRT", "SBAR", "UCP", "VP")


def find_columns(sentences: list[list[list[str]]], path: str, given: int) -> tuple[int, int]:
    """The columns of words and of tags: the first one, and the one that has only tags.

    A first column that numbers the words of each sentence is left out. Chunks, which CoNLL-2003 has
    before its entities, are not taken for tags.
    """
    width = len(sentences[0][0])
    numbered = all(
        row[0] == str(n) for rows in sentences for n, row in enumerate(rows, start=1)
    ) and any(len(rows) > 1 for rows in sentences)
    word = int(numbered and width > 2)
    if word:
        note(f"{path}: the first column numbers the words, which are in the second one")
    if given:
        if not word + 1 < given <= width:
            raise SystemExit(
                f"--tag-column {given}: {path} has tags in one of {word + 2} to {width}."
            )
        return word, given - 1
    kinds = {
        column: {row[column] for rows in sentences for row in rows}
        for column in range(word + 1, width)
    }
    tags = [column for column, found in kinds.items() if all(map(is_tag, found))]
    chunks = [c for c in tags if {tag[2:] for tag in kinds[c]} - {""} <= {*CHUNKS}]
    tags = [column for column in tags if column not in chunks] or tags
    if len(tags) > 1:
        numbers = " and ".join(str(column + 1) for column in tags)
        raise SystemExit(f"{path} has tags in its columns {numbers}: set --tag-column to one.")
    if tags and tags[0] != width - 1:
        note(f"{path}: the tags are in column {tags[0] + 1}")
    return word, tags[0] if tags else width - 1

#: slot load_sentences when dataset=huggingface
@cache
def load_sentences(config) -> list[list[Sentence]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A missing split is replaced by a tenth of the training data.
    """
    name = config.dataset_name
    dataset = load_splits(config)
    parts = {
        part: read_rows(dataset[part], f"{name}, {part}", config)
        for part in ("train", "validation", "test")
        if part in dataset
    }
    train_rows = parts["train"]
    for part in ("validation", "test"):
        if not parts.get(part):
            train_rows, parts[part] = split_rows(train_rows, [0.9, 0.1], name)
    return [train_rows, parts["validation"], parts["test"]]


def read_rows(part, source: str, config) -> list[Sentence]:
    """The words and tags of each row. Tags are names, or numbers whose names the dataset has."""
    for column in (config.words_column, config.tags_column):
        if column not in part.features:
            raise SystemExit(
                f"{config.dataset_name} has no column {column!r}, only {', '.join(part.features)}. "
                "Set --words-column and --tags-column."
            )
    tag = getattr(part.features[config.tags_column], "feature", None)
    names = dict(enumerate(tag.names)) if isinstance(tag, ClassLabel) else {}
    columns = (part[column] for column in (config.words_column, config.tags_column))
    sentences = [
        check_sentence(words, [names.get(tag, tag) for tag in tags], f"{source}, row {number}")
        for number, (words, tags) in enumerate(zip(*columns, strict=True), start=1)
    ]
    return begin_entities(sentences, source)

#: slot load_sentences when tags_column=given
def check_sentence(words: list, tags: list, place: str) -> Sentence:
    """The words and tags of a row. `place` is for error messages."""
    for values, what in ((words, "words"), (tags, "tags")):
        if what == "tags" and isinstance(values, list) and any(isinstance(v, int) for v in values):
            raise SystemExit(
                f"{place}: its tags are numbers, {values!r:.40}. Write their names, such as B-PER."
            )
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise SystemExit(f"{place}: its {what} are not a list of texts, but {values!r:.60}.")
    if empty := [number for number, word in enumerate(words, start=1) if not word.strip()]:
        raise SystemExit(f"{place}: its word {empty[0]} is empty: leave it and its tag out.")
    if len(words) != len(tags):
        raise SystemExit(f"{place}: it has {len(words)} words and {len(tags)} tags.")
    for tag in tags:
        if not is_tag(tag):
            raise SystemExit(
                f"{place}: the tag {tag!r} is not an IOB2 tag. Use O outside entities, and "
                "B-TYPE and I-TYPE for the first and the other words of one."
            )
    return words, tags


def is_tag(tag: str) -> bool:
    """Whether a tag is one of IOB2, or of BIOES, BILOU or BMES, which are converted."""
    return bool(re.fullmatch(r"O|[BIELMSU]-\S(.*\S)?", tag))


def begin_entities(sentences: list[Sentence], source: str) -> list[Sentence]:
    """The sentences that have words, in IOB2.

    In IOB1, an entity begins with B- only if it follows another one of its type. The files of
    CoNLL-2003 are written like this: Sang and De Meulder 2003, https://aclanthology.org/W03-0419
    """
    changed = 0
    firsts = {tag[0] for _, tags in sentences for tag in tags} - set("OBI")
    if firsts:
        note(f"{source}: tags with {', '.join(sorted(firsts))} (BIOES, BILOU) are read as IOB2")
    parts = {"S": "B", "U": "B", "E": "I", "L": "I", "M": "I"}  # single words, last and inner ones
    sentences = [
        (words, [parts.get(tag[0], tag[0]) + tag[1:] for tag in tags]) for words, tags in sentences
    ]
    for _, tags in sentences:
        for place, tag in enumerate(tags):
            before = tags[place - 1] if place else "O"
            if tag.startswith("I-") and before[2:] != tag[2:]:
                tags[place] = f"B-{tag[2:]}"
                changed += 1
    if changed:
        note(f"{source}: {changed} entities begin with I-, read as B- (IOB1)")
    return [(words, tags) for words, tags in sentences if words]

#: slot tokenizer when model=encoder
PIECES, START = 4096, 0  # vocabulary size, and the token that starts each sentence


def encode(sentences: list[list[str]], config) -> list[tuple[list[int], list[int]]]:
    """The tokens of each sentence, and where each word starts among them.

    A token is a piece of up to four letters. Its id is its hash, so no vocabulary is needed;
    some pieces share an id.
    """
    encoded = []
    for words in sentences:
        tokens, starts = [START], []
        for word in words:
            starts.append(len(tokens))
            pieces = [word[first : first + 4] for first in range(0, max(len(word), 1), 4)]
            tokens += [1 + crc32(piece.encode()) % (PIECES - 1) for piece in pieces]
        starts = [start for start in starts if start < config.max_length]
        encoded.append((tokens[: config.max_length], starts))
    return encoded

#: slot tokenizer when model=pretrained
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model, which maps tokens to words."""
    name = config.pretrained_name
    check_hub(name)
    try:
        # RoBERTa and GPT-2 tokenizers need this to accept words; others ignore it
        tokenizer = AutoTokenizer.from_pretrained(name, add_prefix_space=True)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
    if not tokenizer.is_fast:
        raise SystemExit(
            f"The tokenizer of {name!r} is slow: it does not say to which word a token "
            "belongs: choose a model with a tokenizer.json."
        )
    return tokenizer


def encode(sentences: list[list[str]], config) -> list[tuple[list[int], list[int]]]:
    """The tokens of each sentence, and where each word starts among them."""
    tokenizer = build_tokenizer(config)
    settings = {"is_split_into_words": True, "truncation": True, "max_length": config.max_length}
    batch, encoded = tokenizer(sentences, **settings), []
    for row, words in enumerate(sentences):
        tokens, starts = batch["input_ids"][row], find_starts(batch.word_ids(row))
        last = len(words) if len(tokens) < config.max_length else max(starts, default=-1) + 1
        if len(starts) < last:  # a word without tokens, such as a zero-width space
            unknown = tokenizer.unk_token or "?"
            words = [word if n in starts else unknown for n, word in enumerate(words[:last])]
            again = tokenizer(words, **settings)
            tokens, starts = again["input_ids"], find_starts(again.word_ids())
        encoded.append((tokens, list(starts.values())))
    return encoded


def find_starts(word_ids: list[int | None]) -> dict[int, int]:
    """The first token of each word."""
    starts = {}
    for place, word in enumerate(word_ids):
        if word is not None:
            starts.setdefault(word, place)
    return starts

#: replace padding with tpu
mask = [torch.ones_like(row, dtype=torch.bool) for row in tokens]
return pad(tokens), pad(mask), pad(targets, IGNORED)

#: slot datasets when dataset=conll|huggingface
def check_types(sources: list[str], config) -> None:
    """Stop if there are no entities, or if a source has types that the training data lack.

    `sources` are the files or splits of training, validation and test data. One that is empty is
    a share of the training data.
    """
    source, *others = sources
    parts = [
        [[tag[2:] for tag in tags if tag[0] == "B"] for _, tags in part]
        for part in load_sentences(config)
    ]
    trained = [name for names in parts[0] for name in names]
    if tag_names(config) == ["O"]:
        raise SystemExit(f"{source}: all words have the tag O: there is no entity to learn.")
    check_names(parts, others, "type", lambda name, number: f"{name}, sentence {number + 1}")
    PartialState().print(describe_parts("sentences", map(len, load_sentences(config)), config))
    PartialState().print(describe_names(trained, "types of entities"))

#: slot after_datasets when dataset=conll
check_types([config.path, config.val_path, config.test_path], config)

#: slot after_datasets when dataset=huggingface
splits = load_splits(config)
parts = ["train", "validation", "test"]
sources = [f"{config.dataset_name}, {part}" if splits.get(part) else "" for part in parts]
check_types(sources, config)
