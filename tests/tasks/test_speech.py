"""Speech recognition of a user's sounds, of datasets of the Hub, and of pretrained models."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.bad_files import refuse_flags
from support.encoders import BY_TRANSFORMERS, OURS, PLAIN
from support.recordings import HUB, RATES, RECORD
from support.rendering import of_task, write_project
from support.training import (
    ask,
    count_passed,
    evaluate,
    make_pretrained,
    read_report,
    read_rows,
    run,
    run_tests,
    said,
    tell,
)
from support.whisper import make_project as make_whisper

pytestmark = pytest.mark.train

TASK = "speech_recognition"
FILES = of_task(TASK, dataset="files", seconds=0.7, width=8, mels=16, case="lower", ignored="!")
FILES["training.num_workers"] = 0
BRIEF = ["--epochs", "1", "--batch-size", "4"]


def make_project(folder: Path, given: Mapping[str, Value]) -> Path:
    """A project for sounds that a table names, and both."""
    write_project(folder, TASK, **{**FILES, **given})
    run(folder, "-c", RECORD, "clips", "40")
    return folder


def test_a_users_sounds_train_and_a_wrong_row_is_named(tmp_path: Path) -> None:
    """Nothing is trained then. Each file has its text, also without the data."""
    project = make_project(tmp_path, {})
    trained = run(project, "train.py", *BRIEF)
    assert "sounds of the training data are longer than --seconds and left out" in trained
    letters = json.loads((project / "runs/latest/letters.json").read_text())
    assert letters == ["", " ", "a", "b", "c"], "texts are in lower case, without --ignored"
    good = "clips/000.wav,a b"
    (project / "nothing.csv").write_text(f"file,text\n{good}\nclips/001.wav,!!\n")
    expected = {
        ("--path", "nothing.csv"): "nothing.csv, line 3: its text is empty without the characters",
        ("--seconds", "0.1"): "clips.csv: all training sounds are longer than --seconds: raise it.",
    }
    refuse_flags(project, expected)
    (project / "clips.csv").unlink()
    rows = read_rows(run(project, "predict.py", "clips/001.wav", "clips"))
    assert len(rows) == 41 and list(rows[0]) == ["sound", "text"]
    assert all(set(row["text"]) <= set(letters) for row in rows)


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["ctc", "whisper"])
def test_metrics_are_those_of_jiwer_on_any_processes(model: str, tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, of the whole set: each evaluates batches of other sounds."""
    given: dict[str, Value] = {"features.evaluate.enabled": True}
    flags = ["--epochs", "1", "--learning-rate", "0.004", "--batch-size", "17"]
    if model == "whisper":
        project = make_whisper(tmp_path, given, "wild")
        flags[1:4] = ["2", "--learning-rate", "0.003"]
    else:
        project = write_project(tmp_path, TASK, **given)
    run(project, "train.py", *flags)
    count, different, *rates = tell(project, RATES)
    assert count == 150 and all(rate > 0 for rate in rates)
    assert different > 5 if model == "whisper" else max(rates) < 1
    losses = []
    for processes in (1, 2, 3):
        found = evaluate(project, processes=processes)
        assert [found["test_wer"], found["test_cer"]] == pytest.approx(rates, rel=1e-9)
        losses.append(found["test_loss"])
        row = read_report(project)["test_wer"]
        assert row["low"] < rates[0] < row["high"]
        folder = project / "runs/latest/evaluation/test"
        table = list(csv.DictReader((folder / "samples.csv").read_text().splitlines()))
        assert len(table) == 150
        edits = sum(int(row["word_edits"]) for row in table)
        assert edits / sum(int(row["words"]) for row in table) == pytest.approx(rates[0])
    assert losses == pytest.approx(losses[:1] * 3, rel=1e-5)


@pytest.mark.sweep
def test_a_dataset_of_the_hub_trains_and_a_wrong_row_is_named(tmp_path: Path) -> None:
    given = of_task(TASK, dataset="huggingface", dataset_name="hub", dataset_subset="")
    project = make_project(tmp_path, given)
    run(project, "-c", HUB)
    run(project, "train.py", *BRIEF)
    for name, expected in (("hub", [27, 3, 10]), ("alone", [33, 4, 3])):
        parts = f"data.load_rows(train.Config(dataset_name={name!r}))"
        assert ask(project, "", f"list(map(len, {parts}))") == expected
    name, columns = "--dataset-name", ("--sound-columns", "audio,sentence")
    wrong = {
        (name, "empty"): "empty, train, row 4: its transcription is not text, but ' '.",
        (name, "wrong"): "wrong, train, row 4: its sound can't be read: ",
        (name, "other"): "The dataset 'other' has no split 'train', only test.",
        (name, "none/none"): "The dataset 'none/none' can't be loaded: ",
        columns: "'hub' has no column 'sentence', only audio, transcription. Set --sound-columns.",
    }
    refuse_flags(project, wrong)


# small models with random weights, as they would come from the Hub
PRETRAINED = """
import json, sys
from pathlib import Path
from transformers import AutoConfig, AutoModel, AutoModelForCTC
from transformers import Wav2Vec2CTCTokenizer, Wav2Vec2FeatureExtractor
small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
small |= {"intermediate_size": 24, "conv_dim": (16, 16), "conv_kernel": (10, 8)}
small |= {"conv_stride": (20, 16), "num_conv_pos_embeddings": 16, "num_feat_extract_layers": 2}
small |= {"num_conv_pos_embedding_groups": 2, "classifier_proj_size": 8}
small |= {"hidden_dropout": 0.0, "attention_dropout": 0.0, "activation_dropout": 0.0}
small |= {"feat_proj_dropout": 0.0, "final_dropout": 0.0}
words = ["[PAD]", "<s>", "</s>", "[UNK]", "|", *"ponmlkjihgfedcba"]
kind = sys.argv[1]
extractor = Wav2Vec2FeatureExtractor(return_attention_mask=kind not in ("group", "hubert"))
layer = {**small, "feat_extract_norm": "layer"}
writes = kind in ("written", "hubert")
if kind == "written":  # trained to write, with a blank that is not the first of its letters
    words = [*words[4:], *words[1:4], "[PAD]"]
    layer |= {"vocab_size": len(words), "pad_token_id": len(words) - 1}
name, settings = {
    "hubert": ("hubert", {**small, "vocab_size": len(words), "pad_token_id": 0}),
    "group": ("wav2vec2", small),
    "layer": ("wav2vec2", layer),
    "written": ("wav2vec2", layer),
    "wavlm": ("wavlm", {**layer, "num_buckets": 16}),
}[kind]
trained_for = AutoModelForCTC if writes else AutoModel
trained_for.from_config(AutoConfig.for_model(name, **settings)).save_pretrained("small")
extractor.save_pretrained("small")
if writes:
    Path("small/vocab.json").write_text(json.dumps({word: n for n, word in enumerate(words)}))
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "word_delimiter_token": "|"}
    Wav2Vec2CTCTokenizer("small/vocab.json", **names).save_pretrained("small")
"""


HEADS = """
import torch
from transformers import AutoModelForCTC
built = model.build_model(config)
letters = data.list_letters(config)
head = AutoModelForCTC.from_pretrained("small").lm_head.weight
same = built.model.lm_head.weight.shape == head.shape
sound = torch.randn(1, 4000)
order = built(sound, torch.tensor([4000]))
own = built.model(sound).logits[..., built.places].log_softmax(dim=-1)
same = same and bool((built.model.lm_head.weight == head).all())
found = [letters, same, built.places.tolist(), float((order - own).abs().max())]
"""


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["group", "layer", "wavlm", "hubert", "written"])
def test_a_pretrained_model_is_fine_tuned(kind: str, tmp_path: Path) -> None:
    """It trains on 1 and 2 processes, and keeps the letters that it was trained to write."""
    project = make_pretrained(tmp_path, TASK, PRETRAINED, kind, {})
    letters, kept, places, difference = ask(project, HEADS, "found")
    assert letters[:2] == ["", " "] and difference < 1e-5
    if kind in ("written", "hubert"):
        assert kept and letters[2:] == list("ponmlkjihgfedcba")
        expected = {"written": [20, 0, *range(1, 17)], "hubert": [0, 4, *range(5, 21)]}
        assert places == expected[kind]
    else:
        assert letters[2:] == list("abcdefghijklmnop") and places == list(range(18))
    brief = ["train.py", "--epochs", "1", "--limit-batches", "3", "--batch-size", "4"]
    for processes in (1, 2):
        run(project, *brief, processes=processes)
    run(project, "-c", RECORD, "clips", "4")
    assert len(run(project, "predict.py", "clips").splitlines()) == 5
    [message] = said(project, "train.py", ["--pretrained-name", "nothing"])
    assert "'nothing' can't be loaded: " in message


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("group", {}),
        ("layer", {"features.lora.enabled": True}),
        ("written", {"features.evaluate.enabled": True}),
    ],
    ids=str,
)
def test_a_pretrained_model_passes_the_tests_of_its_project(
    kind: str, given: dict[str, Value], tmp_path: Path
) -> None:
    assert count_passed(run_tests(make_pretrained(tmp_path, TASK, PRETRAINED, kind, given))) >= 20


@pytest.mark.sweep
@pytest.mark.parametrize("reader", ["wave", "soundfile"])
def test_a_users_sounds_pass_the_tests_of_their_project(reader: str, tmp_path: Path) -> None:
    assert count_passed(run_tests(make_project(tmp_path, {f"{TASK}.reader": reader}))) >= 28


NOTE = """
collate = data.collate

def note(samples):
    seen.append(collate(samples))
    return seen[-1]
"""
TRAINER = f"""{OURS.format(note=NOTE, collate="collate")}
settings = build(config).model.config
settings.ctc_loss_reduction, settings.layerdrop = "mean", 0.0
settings.apply_spec_augment = False
other = transformers.AutoModelForCTC.from_config(settings)
other.load_state_dict(torch.load("begin.pt"))
other.freeze_feature_encoder()
theirs, batches = [], []
for sounds, lengths, targets, sizes in seen[:10]:
    labels = targets.masked_fill(torch.arange(targets.shape[1]) >= sizes[:, None], -100)
    mask = (torch.arange(sounds.shape[1]) < lengths[:, None]).long()
    batches.append({{"input_values": sounds, "attention_mask": mask, "labels": labels}})
{BY_TRANSFORMERS}
worst = max(float((ends[0][name] - ends[1][name]).abs().max()) for name in ends[0])
"""


@pytest.mark.sweep
def test_ten_steps_are_those_of_the_trainer_of_transformers(tmp_path: Path, proven) -> None:
    """From the same weights, with the same batches and optimizer, without dropout."""
    project = make_pretrained(tmp_path, TASK, PRETRAINED, "layer", PLAIN)
    ours, theirs, worst = ask(project, TRAINER, "[ours, theirs, worst]")
    assert len(ours) == len(theirs) == 10
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert worst < 1e-5
    proven("steps that are those of the Trainer of Transformers", 10)
