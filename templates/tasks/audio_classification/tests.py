import wave
from pathlib import Path

import pytest
import torch
from accelerate.utils import set_seed
from PIL import Image

import train
from data import build_datasets, class_names, load_clips, prepare
from helpers import SETTINGS, run
from model import build_model

#: into tests/helpers.py
#: slot settings when dataset=files without data_loading
"num_workers": 0,  # starting workers takes longer than a test

#: into tests/test_app.py
#: slot expected
[row] = app.predict(config, model, [Path(values[0])])
assert sum(shown.values()) == pytest.approx(1)
assert max(shown, key=shown.get) == row["label"]

#: into tests/test_features.py
#: slot tests
def test_every_run_has_the_same_split():
    """For any seed: otherwise one run would train on the test sounds of another."""
    seen = []
    for seed in (1, 2):
        set_seed(seed)
        parts = build_datasets(train.Config(**SETTINGS))
        seen.append([part[index][0] for part in parts for index in range(min(3, len(part)))])
    assert all(map(torch.equal, *seen))


def test_pictures_are_drawn(tmp_path):
    run(tmp_path, epochs=1, max_steps=1)
    [path] = tmp_path.glob("sounds_*.png")
    assert Image.open(path).width == 640
    assert class_names(train.Config()) == sorted(class_names(train.Config()))

#: slot tests when dataset=files
def write_sounds(folder: Path, numbers: dict[str, int]) -> Path:
    """Write this number of short sounds for each class, in a folder per class."""
    for name, number in numbers.items():
        (folder / name).mkdir(parents=True)
        for index in range(number):
            with wave.open(str(folder / name / f"{index}.wav"), "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", ""))
                file.writeframes(bytes(range(200)) * 4)
    return folder


def read(path: Path) -> list[list[tuple[str, str]]]:
    """The names and classes of the files in each split."""
    clips = load_clips(train.Config(**{**SETTINGS, "path": str(path)}))
    return [[(clip.path.name, clip.label) for clip in part] for part in clips]


def test_folders_become_datasets(tmp_path):
    config = train.Config(**{**SETTINGS, "path": str(tmp_path)})
    write_sounds(tmp_path, {"dog": 50, "cat": 50})
    assert class_names(config) == ["cat", "dog"]
    parts = build_datasets(config)
    assert [len(part) for part in parts] == [80, 10, 10], "a tenth for each split"
    inputs, length, label = parts[2][0]
    assert 0 < length <= len(inputs) and label in (0, 1)


def test_folders_of_parts(tmp_path):
    write_sounds(tmp_path / "train", {"dog": 10, "cat": 10})
    write_sounds(tmp_path / "test", {"cat": 4})
    assert list(map(len, read(tmp_path))) == [18, 2, 4]


def test_tables_become_datasets(tmp_path):
    write_sounds(tmp_path, {"a": 4})
    rows = ["a/0.wav,x,", "a/1.wav,y,val", "a/2.wav,x,test"]
    path = tmp_path / "clips.csv"
    path.write_text("\n".join(["file,label,split", *rows, "a/3.wav,y,train"]))
    assert read(path) == [[("3.wav", "y"), ("0.wav", "x")], [("1.wav", "y")], [("2.wav", "x")]]


def test_wrong_data_are_named(tmp_path):
    write_sounds(tmp_path / "few", {"a": 3, "b": 3})
    write_sounds(tmp_path / "one", {"a": 12})
    (tmp_path / "empty").mkdir()
    write_sounds(tmp_path / "other" / "train", {"a": 10, "c": 1})
    write_sounds(tmp_path / "other" / "val", {"b": 1})
    write_sounds(tmp_path / "wrong", {"a": 10})
    (tmp_path / "wrong/a/3.wav").write_text("no sound")
    tables = {"label": "file\na.wav\n", "part": "file,label,split\nfew/a/0.wav,a,valid\n"}
    tables |= {"missing": "file,label\nfew/a/0.wav,a\nfew/a/9.wav,a\n"}
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
    said = {
        "none": "none is not a folder",
        "empty": "empty has no sounds to train on",
        "few": "few has too few sounds",
        "one": "one has one class, a",
        "other": "val/b/0.wav has a class without training data",
        "wrong": "wrong/a/3.wav can't be read",
        "label.csv": "label.csv, the first line has no label",
        "part.csv": "part.csv, row 1: split is train, val, test, not 'valid'",
        "missing.csv": "missing.csv, row 2: .*few/a/9.wav can't be read",
    }
    for name, message in said.items():
        with pytest.raises(SystemExit, match=message):
            read(tmp_path / name)

#: slot tests when model=cnn
def test_padding_changes_nothing():
    """A sound has the same logits for any amount and content of padding."""
    config = train.Config(**SETTINGS)
    model, seconds = build_model(config).eval(), min(0.33, 0.5 * config.seconds)
    frames, length = prepare(torch.randn(round(seconds * config.sample_rate)), config)
    assert length == round(100 * seconds) + 1 < len(frames) and not frames[length:].any()
    noise, lengths = frames.clone(), torch.tensor([length])
    noise[length:] = torch.randn_like(noise[length:])
    with torch.no_grad():
        alone, padded, noisy = (model(x[None], lengths) for x in (frames[:length], frames, noise))
    assert alone.shape == (1, len(class_names(config)))
    torch.testing.assert_close(padded, alone)
    torch.testing.assert_close(noisy, alone)


def test_long_sounds_are_cut_and_loudness_does_not_matter():
    config = train.Config(**SETTINGS)
    size = round(config.seconds * config.sample_rate)
    sound = torch.randn(size + 5000)
    frames, length = prepare(sound, config)
    assert length == len(frames)
    torch.testing.assert_close(prepare(sound[:size] / 9, config)[0], frames, rtol=0, atol=1e-4)

#: slot tests when model=cnn with distillation
def test_a_teacher_of_other_spectrograms_is_refused(tmp_path):
    folder = run(tmp_path / "teacher", epochs=1, max_steps=2)
    with pytest.raises(SystemExit, match="has mels 64, and this run 32: use the same"):
        run(tmp_path / "student", epochs=1, teacher=str(folder), mels=32)

#: into tests/test_predict.py
#: slot metric
samples = [sample for batch in read_batches(config) for sample in zip(*batch, strict=True)]
names, sounds = class_names(config), [(inputs, length) for inputs, length, _ in samples]
rows = predict_sounds(config, model, sounds)
right = sum(row["label"] == names[label] for row, (*_, label) in zip(rows, samples, strict=True))
assert right / len(samples) == pytest.approx(reported["test_accuracy"], rel=1e-6)

#: slot five
inputs, lengths, _ = read_batches(config)[0]
sounds = list(zip(inputs, lengths, strict=True))
rows = predict_sounds(config, model, (5 * sounds)[:5])  # there may be fewer
rows = [{**row, "sound": ""} for row in rows]
