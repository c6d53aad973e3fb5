"""Datasets of the Hub with texts: the rows of each task, wrong columns, and a wrong row.

They are read from a folder, as nothing is downloaded here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.files import write_files
from support.rendering import write_project
from support.training import ask, run, said

pytestmark = [pytest.mark.train, pytest.mark.sweep]


@dataclass(frozen=True)
class Dataset:
    row: Mapping[str, Any]  # in which {} stands for the name of the split, and # for a number
    read: str  # Python for its splits, and for the first row of the validation data
    first: object
    wrong: Mapping[tuple[str, ...], str]  # flags, and what is said then
    bad: Mapping[str, Any] = field(default_factory=dict)  # cells of a row that is refused
    refusal: str = ""  # what is said of that row: the last of 41
    given: Mapping[str, str] = field(default_factory=dict)  # settings of the task
    names: Mapping[str, list[str]] = field(default_factory=dict)  # of classes, by their column
    held_out: str = "validation"


ODD = "odd"  # stands for the rest of the number of the row by 2
ANSWERS = {"text": ["Åre", "in Åre"], "answer_start": [12, 9]}
DATASETS = {
    "text_classification": Dataset(
        {"sentence1": "first #", "sentence2": "{}", "label": ODD},
        "parts = data.build_datasets(config)\nfirst = parts[1][0]",
        [["first 0", "validation"], 1],  # "other" comes after "equal"
        {("--text-columns", "text"): "has no column 'text', only sentence1, sentence2, label"},
        {"sentence2": None},
        "own, row 41 of train: sentence1,sentence2 is ('first 40', None), not texts.",
        {"dataset_subset": ""},
        {"label": ["other", "equal"]},
    ),
    "token_classification": Dataset(
        {"tokens": ["Bo", "met", "{}"], "ner_tags": [2, 0, 1]},
        "parts = data.load_sentences(config)\nfirst = parts[1][0]",
        [["Bo", "met", "validation"], ["B-PER", "O", "B-PER"]],
        {("--words-column", "text"): "has no column 'text', only tokens, ner_tags"},
        names={"ner_tags": ["O", "B-PER", "I-PER"]},
    ),
    "question_answering": Dataset(
        {"context": "Bo sings in Åre. {} #", "question": "Where?", "answers": ANSWERS},
        "parts = data.load_questions(config)\none = parts[1][0]\n"
        "first = [one.context, one.question, one.answers[0][1]]",
        ["Bo sings in Åre. validation 0", "Where?", "Åre"],
        {},
        {"context": "Bo sings in Oslo."},
        "train, row 41: the answer 'Åre' is not at character 12",
    ),
    "multiple_choice": Dataset(
        {"sent1": "# {}", "sent2": "It", "ending0": "sings", "ending1": "naps", "label": 1},
        "parts = data.load_questions(config)\nfirst = [parts[1][0].context, parts[1][0].choices]",
        ["0 validation", ["It sings", "It naps"]],
        {},
        given={"dataset_subset": ""},
        names={"label": ["0", "1"]},
    ),
    "masked_language_model": Dataset(
        {"words": "a text # of {}"},
        "parts = data.read_documents(config)\nfirst = parts[1][0]",
        "a text 0 of validation",
        {("--text-column", "text"): "no column text: --text-column names one of words"},
        given={"dataset_subset": "", "text_column": "words"},
    ),
    "embeddings": Dataset(
        {"anchor": "{} #", "positive": "b"},
        "parts = data.load_rows(config)\nfirst = parts[1][0]",
        ["dev 0", "b"],
        {("--text-columns", "anchor,answer"): "there is no 'answer' in anchor, positive"},
        given={"dataset_subset": ""},
        held_out="dev",
    ),
    "seq2seq": Dataset(
        {"translation": {"en": "day #", "fr": "{} #"}},
        "parts = data.load_pairs(config)\nfirst = parts[1][0]",
        ["day 0", "validation 0"],
        {
            ("--target-column", "text"): "train has no column 'text', only translation.",
            ("--target-column", "translation"): "own, train, row 1: its translation is {'en'",
            ("--target-column", "translation.de"): "row 1: its translation.de is None, not text.",
        },
        given={"dataset_subset": ""},
    ),
    "sft": Dataset(
        {"prompt": "up #", "completion": "{}"},
        "parts = data.build_datasets(config)\n"
        "first = 'validation' in data.show(parts[1][0], config)",
        True,
        {},
        {"completion": None},
        "own, row 41 of train has prompt: it needs messages, or prompt",
    ),
    **{
        task: Dataset(
            {"prompt": "up #", "chosen": "{}", "rejected": "no"},
            f"parts = data.build_datasets(config)\nfirst = 'validation' in {shown}",
            True,
            {},
            {"rejected": None},
            "row 41 of train has prompt, chosen: it needs prompt, chosen and rejected",
        )
        for task, shown in (
            ("dpo", "data.show(parts[1][0][0], config)"),
            ("reward_model", "model.build_tokenizer(config).show(parts[1][0][0].tolist())"),
        )
    },
}


def fill(value: Any, split: str, number: int) -> Any:
    """A value of a row, with its split and number in all of its texts."""
    if value == ODD:
        return number % 2
    if isinstance(value, str):
        return value.replace("{}", split).replace("#", str(number))
    if isinstance(value, list):
        return [fill(part, split, number) for part in value]
    if isinstance(value, dict):
        return {key: fill(part, split, number) for key, part in value.items()}
    return value


def store(folder: Path, dataset: Dataset, more: Mapping[str, Any]) -> None:
    """40 rows of training data, perhaps one more with these cells, and 5 of validation data.

    Test data have no classes, as in GLUE and SWAG: they are left out.
    """
    import datasets

    folder.mkdir(exist_ok=True)
    sizes = {"train": 40 + bool(more), dataset.held_out: 5}
    for split, count in (sizes | ({"test": 6} if "label" in dataset.names else {})).items():
        rows = [fill(dataset.row, split, number) for number in range(count)]
        rows[-1] |= more if split == "train" else {}
        if split == "test":
            rows = [row | {"label": -1} for row in rows]
        table = datasets.Dataset.from_list(rows)
        for column, names in dataset.names.items():
            kind: Any = datasets.ClassLabel(names=names)
            several = isinstance(dataset.row[column], list)
            table = table.cast_column(column, datasets.Sequence(kind) if several else kind)
        table.to_parquet(folder / f"{split}.parquet")


@pytest.mark.parametrize("task", DATASETS)
def test_a_dataset_of_the_hub_is_read(task: str, tmp_path: Path) -> None:
    """A split that it lacks is a tenth of the training data."""
    dataset = DATASETS[task]
    given = {"dataset": "huggingface", "dataset_name": "own", **dataset.given}
    project = write_project(tmp_path, task, **given)
    store(project / "own", dataset, {})
    sizes, first = ask(project, dataset.read, "[list(map(len, parts)), first]")
    assert sizes == [36, 5, 4] and first == dataset.first
    run(project, "train.py", "--epochs", "1", "--max-steps", "2", "--batch-size", "4", processes=2)
    wrong = {**dataset.wrong, ("--dataset-name", "nobody/nothing"): "can't be loaded"}
    for message, part in zip(said(project, "train.py", *wrong), wrong.values(), strict=True):
        assert part in message
    if dataset.bad:
        store(project / "own", dataset, dataset.bad)
        [message] = said(project, "train.py", ["--output-dir", "runs/other"])
        assert dataset.refusal in message


ROW = '{"prompt": "a", "completion": "b"}\n'


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("train.jsonl", "", "The dataset 'own' can't be loaded: it has an empty file."),
        ("train.jsonl", ROW, "own has 1 conversations: a split needs at least 10."),
        ("train.parquet", "", "The dataset 'own' can't be loaded: "),
        ("train.parquet", "PAR1 and nothing else", "The dataset 'own' can't be loaded: "),
    ],
)
def test_a_dataset_without_rows_is_said_in_one_line(
    name: str, content: str, reason: str, tmp_path: Path
) -> None:
    project = write_project(tmp_path, "sft", dataset="huggingface", dataset_name="own")
    write_files(project, {f"own/{name}": content})
    [message] = said(project, "train.py", ["--output-dir", "runs/other"])
    assert message.startswith(reason)
