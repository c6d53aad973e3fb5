import wave
from pathlib import Path

import pytest
import torch

import train
from data import build_datasets, collate, count_seconds, load_rows, prepare, sample_rate
from helpers import SETTINGS, build_exact_model, run
from metrics import IGNORED, count_errors, error_rates
from model import build_tokenizer

#: slot tests when dataset=files
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

#: slot tests when model=whisper
CONFIG = train.Config(**SETTINGS)


def take_samples(count: int) -> list:
    """The first samples of the training data."""
    return [build_datasets(CONFIG)[0][index] for index in range(count)]


def test_targets_are_the_inputs_shifted_by_one():
    """The prefix begins the inputs once and has no loss. The end token has one."""
    tokenizer, samples = build_tokenizer(CONFIG), take_samples(8)
    for _, inputs, targets in samples:
        size = len(tokenizer.prefix)
        assert inputs[:size].tolist() == tokenizer.prefix
        assert (inputs == tokenizer.prefix[0]).sum() == 1, "two tokens start the text"
        assert (targets[: size - 1] == IGNORED).all() and targets[-1] == tokenizer.end
        text = targets[size - 1 : -1]
        assert len(text) and torch.equal(inputs[size:], text) and not (text == IGNORED).any()
    _, inputs, targets = collate(samples)
    assert inputs.shape == targets.shape
    texts = [" ".join(row.text.split()) for row in build_datasets(CONFIG)[0].rows[:8]]
    assert tokenizer.decode(targets) == texts


def test_texts_are_written_after_the_prefix_of_training():
    """Without the detection of a language, and with no second start."""
    model, seen = build_exact_model(CONFIG).eval(), []
    model.model.get_decoder().register_forward_pre_hook(
        lambda _, __, given: seen.append(given["input_ids"].tolist()), with_kwargs=True
    )
    sounds, *_ = collate(take_samples(2))
    written = model.write(sounds)
    assert seen[0] == [model.tokenizer.prefix] * 2
    assert len(written) == 2 and len(seen) <= CONFIG.max_tokens
    assert model.model.generation_config.forced_decoder_ids is None or not CONFIG.language


def test_no_token_sees_a_later_one():
    model = build_exact_model(CONFIG).eval()
    sounds, inputs, _ = collate(take_samples(4))
    size, changed = len(model.tokenizer.prefix), inputs.clone()
    changed[:, size:] = model.tokenizer.end
    with torch.no_grad():
        logits, others = model(sounds, inputs), model(sounds, changed)
    torch.testing.assert_close(others[:, :size], logits[:, :size], rtol=0, atol=1e-4)
    assert not torch.allclose(others[:, size:], logits[:, size:], rtol=0, atol=1e-4)


def test_sounds_are_as_long_as_the_window():
    """Shorter ones are padded with silence, longer ones are cut."""
    rate = sample_rate(CONFIG)
    sound = torch.randn(rate * (count_seconds(CONFIG) + 1))
    long, window = prepare(sound, CONFIG), prepare(sound[: rate * count_seconds(CONFIG)], CONFIG)
    short = prepare(sound[: rate // 2], CONFIG)
    assert torch.equal(long, window) and short.shape == window.shape


def test_rates_are_those_of_the_whole_set():
    """Counted by hand: an inserted letter, a word that is split, another case, no text."""
    written, texts = ["abc", "de f", "G", ""], ["ac", "def", "g", "h"]
    counts = count_errors(written, texts)
    assert counts.tolist() == [[1, 1, 1, 2], [2, 1, 1, 3], [1, 1, 1, 1], [1, 1, 1, 1]]
    expected = {"wer": 5 / 4, "cer": 4 / 7}
    assert error_rates(counts.sum(dim=0)) == pytest.approx(expected)


def test_texts_are_written_after_each_evaluation(tmp_path):
    run(tmp_path, epochs=1, limit_batches=1)
    [path] = tmp_path.glob("texts_*.txt")
    said, heard, *_ = path.read_text(encoding="utf-8").splitlines()
    texts = [" ".join(row.text.split()) for rows in load_rows(CONFIG) for row in rows]
    assert said.removeprefix("said:  ") in texts and heard.startswith("heard: ")

#: slot table_row when model=whisper dataset=files
*_, targets = parts[0][0]
assert build_tokenizer(config).decode(targets[None])[0].lower() == "b a"

#: slot wrong_rows when model=whisper dataset=files
f"a/1.wav,{'ab ' * 999}": "line 3: its text has .* tokens, and --max-tokens is",
