import wave
from pathlib import Path

import pytest
import train
from data import build_datasets, class_names, load_clips
from helpers import SETTINGS

#: slot tests
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
    assert [len(part) for part in parts] == [81, 10, 9], "a tenth for each split"
    inputs, length, label = parts[2][0]
    assert 0 < length <= len(inputs) and label in (0, 1)


def test_folders_of_parts(tmp_path):
    write_sounds(tmp_path / "train", {"dog": 10, "cat": 10})
    write_sounds(tmp_path / "test", {"cat": 4})
    assert list(map(len, read(tmp_path))) == [18, 2, 4]


def test_tables_become_datasets(tmp_path):
    write_sounds(tmp_path, {"a": 3})
    rows = ["a/0.wav,x,", "a/1.wav,y,val", "a/2.wav,x,test"]
    path = tmp_path / "clips.csv"
    path.write_text("\n".join(["file,label,split", *rows, "a/1.wav,y,train"]))
    assert read(path) == [[("0.wav", "x"), ("1.wav", "y")], [("1.wav", "y")], [("2.wav", "x")]]


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
        "label.csv": "label.csv, line 1 has no label",
        "part.csv": "part.csv, line 2: split is train, val, test, not 'valid'",
        "missing.csv": "missing.csv, line 3: .*few/a/9.wav can't be read",
    }
    for name, message in said.items():
        with pytest.raises(SystemExit, match=message):
            read(tmp_path / name)
