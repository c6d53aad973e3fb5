import wave
from pathlib import Path

import pytest
import train
from data import build_datasets, load_rows
from helpers import SETTINGS

#: slot tests
def write_sound(path: Path, seconds: float = 1) -> Path:
    path.parent.mkdir(exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(range(200)) * round(80 * seconds))
    return path


def write_table(folder: Path, texts: list[str]) -> train.Config:
    """A table of sounds of a second with these texts, and the settings for it."""
    rows = ["file,text"]
    for number, text in enumerate(texts):
        write_sound(folder / f"a/{number}.wav")
        rows.append(f"a/{number}.wav,{text}")
    (folder / "clips.csv").write_text("\n".join(rows))
    return choose(folder / "clips.csv")


def choose(path: Path, **changes) -> train.Config:
    return train.Config(**{**SETTINGS, "path": str(path), "seconds": 1.5, **changes})


def test_tables_become_datasets(tmp_path):
    """A file is relative to the table, and a text has one space between words."""
    config = write_table(tmp_path, ["b  a"] * 20)
    parts = build_datasets(config)
    assert [len(part) for part in parts] == [16, 2, 2]
    #: slot table_row


def test_sounds_may_be_in_a_folder_clips(tmp_path):
    """Common Voice names its sounds without this folder."""
    sound = write_sound(tmp_path / "clips/1.wav")
    (tmp_path / "train.csv").write_text("file,text\n" + 20 * "1.wav,ab\n")
    parts = load_rows(choose(tmp_path / "train.csv"))
    assert {row.sound for part in parts for row in part} == {sound}


def test_long_sounds_are_left_out_of_the_training_data(tmp_path):
    config = write_table(tmp_path, ["ab"] * 20)
    longest = write_sound(tmp_path / "a/long.wav", config.seconds + 0.5)
    (tmp_path / "long.csv").write_text(f"file,text\na/1.wav,ab\n{longest},ab\n")
    path = str(tmp_path / "long.csv")
    config = choose(path, val_path=path, test_path=path)
    assert [len(part) for part in build_datasets(config)] == [1, 2, 2]
    assert len(load_rows(config)[0]) == 2


def test_wrong_rows_are_named(tmp_path):
    config = write_table(tmp_path, ["ab"] * 20)
    (tmp_path / "a/3.wav").write_text("no sound")
    with pytest.raises(SystemExit, match="clips.csv, line 5: .*a/3.wav can't be read"):
        load_rows(config)
    wrong = {
        "a/1.wav,": "line 3: its text is not text, but ''",
        "a/none.wav,a": "line 3: .*a/none.wav can't be read",
        #: slot wrong_rows
    }
    for number, (row, message) in enumerate(wrong.items()):
        path = tmp_path / f"{number}.csv"
        path.write_text(f"file,text\na/2.wav,a\n{row}\n")
        with pytest.raises(SystemExit, match=message):
            load_rows(choose(path))
