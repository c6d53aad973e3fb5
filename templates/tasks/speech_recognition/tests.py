import wave
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

import train
from data import (
    build_datasets,
    build_loaders,
    collate,
    count_frames,
    count_seconds,
    list_letters,
    load_rows,
    prepare,
    sample_rate,
)
from helpers import SETTINGS, build_exact_model, run
from metrics import BLANK, IGNORED, SPACE, count_edits, count_errors, error_rates, read_letters
from model import build_tokenizer, find_heard

#: into tests/helpers.py
#: slot settings when sound_columns=given without data_loading
"num_workers": 0,  # starting workers takes longer than a test

#: into tests/test_app.py
#: slot expected
[row] = app.predict(config, model, [Path(values[0])])
assert shown == row["text"]

#: into tests/test_features.py
#: slot tests when model=ctc|pretrained
CONFIG = train.Config(**SETTINGS)


def take_samples(count: int) -> list:
    """The first samples of the training data, the shortest first."""
    samples = [build_datasets(CONFIG)[0][index] for index in range(count)]
    return sorted(samples, key=lambda sample: len(sample[0]))


def count_heard(log_probs: torch.Tensor) -> torch.Tensor:
    """The number of frames of each sound without padding."""
    return (log_probs[..., SPACE] > -1e4).sum(dim=1)


def test_padding_changes_nothing():
    """A sound has the same letters and the same loss alone and next to longer ones."""
    model, samples = build_exact_model(CONFIG).eval(), take_samples(6)
    with torch.no_grad():
        inputs, lengths, targets, sizes = collate(samples)
        together = model(inputs, lengths)
        losses = train.compute_loss(together, targets, sizes)
        written = read_letters(together)
        for index, sample in enumerate(samples):
            inputs, lengths, targets, sizes = collate([sample])
            alone = model(inputs, lengths)
            frames = count_heard(alone)
            heard = together[index, :frames]
            torch.testing.assert_close(heard, alone[0, :frames], rtol=0, atol=1e-4)
            assert (together[index, frames:].argmax(dim=1) == BLANK).all()
            loss = train.compute_loss(alone, targets, sizes)
            torch.testing.assert_close(losses[index], loss[0], rtol=1e-5, atol=1e-5)
            assert written[index] == read_letters(alone)[0]


def test_the_loss_is_that_of_the_true_frames():
    """PyTorch's mean of losses per letter, which is given the lengths of the sounds."""
    model, samples = build_exact_model(CONFIG).eval(), take_samples(4)
    inputs, lengths, targets, sizes = collate(samples)
    log_probs = model(inputs, lengths)
    frames = count_heard(log_probs)
    assert len(set(frames.tolist())) > 1, "nothing was padded"
    expected = F.ctc_loss(log_probs.transpose(0, 1), targets, frames, sizes, blank=BLANK)
    found = train.compute_loss(log_probs, targets, sizes).mean()
    torch.testing.assert_close(found, expected)
    found.backward()
    grads = [weight.grad for weight in model.parameters() if weight.grad is not None]
    assert grads and all(grad.isfinite().all() for grad in grads)


def test_repeats_count_once_and_blanks_separate_them():
    path = torch.tensor([[SPACE, 2, 2, BLANK, 2, SPACE, BLANK, SPACE, 3, 3, BLANK, SPACE]])
    assert read_letters(F.one_hot(path, 4)) == [[2, 2, SPACE, 3]]
    assert read_letters(F.one_hot(path[:, -2:], 4)) == [[]]
    assert find_heard(3, torch.tensor([1, 3])).tolist() == [[True, False, False], [True] * 3]


def test_rates_are_those_of_the_whole_set():
    """Counted by hand: an inserted letter, a word that is split, and a text of nothing."""
    targets, sizes = torch.tensor([[2, 3, 0], [4, 5, 6], [2, 0, 0]]), torch.tensor([2, 3, 1])
    counts = count_errors([[2, 7, 3], [4, SPACE, 5, 6], []], targets, sizes)
    assert counts.tolist() == [[1, 1, 1, 2], [2, 1, 1, 3], [1, 1, 1, 1]]
    expected = {"wer": 4 / 3, "cer": 3 / 6}
    assert error_rates(counts.sum(dim=0)) == pytest.approx(expected)
    assert error_rates(torch.zeros(4)) == {"wer": 0, "cer": 0}


def test_frames_are_counted_before_training():
    """As many as the model outputs, so that texts that need more are found."""
    model = build_exact_model(CONFIG).eval()
    rate = sample_rate(CONFIG)
    for samples in (rate // 10, rate // 7, rate // 3):
        sound = prepare(torch.randn(samples), CONFIG)
        inputs, lengths, *_ = collate([(sound, torch.tensor([2]))])
        assert count_heard(model(inputs, lengths)) == count_frames(samples, CONFIG)


def test_texts_are_written_after_each_evaluation(tmp_path):
    run(tmp_path, epochs=1, max_steps=1)
    [path] = tmp_path.glob("texts_*.txt")
    letters, (_, text) = list_letters(CONFIG), build_loaders(CONFIG)[1].dataset[0]
    said = "".join(letters[number] for number in text)
    assert path.read_text(encoding="utf-8").startswith(f"said:  {said}\nheard: ")

#: slot table_row when model=ctc|pretrained dataset=files
letters = list_letters(config)
assert letters[:2] == ["", " "] and {"a", "b"} <= {letter.lower() for letter in letters}
sound, text = parts[0][0]
assert "".join(letters[number] for number in text).lower() == "b a" and len(sound) > 1

#: slot wrong_rows when model=ctc|pretrained dataset=files
f"a/1.wav,{'abc' * 99}": "line 3: 1.00 seconds of sound are .* letters needs 297",
f"a/1.wav,{'a' * 30}": "line 3: .* a text of 30 letters needs 59",

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
    sounds = {write_sound(tmp_path / f"clips/{number}.wav") for number in range(20)}
    rows = "".join(f"{number}.wav,ab\n" for number in range(20))
    (tmp_path / "train.csv").write_text(f"file,text\n{rows}")
    parts = load_rows(choose(tmp_path / "train.csv"))
    assert {row.sound for part in parts for row in part} == sounds


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
    run(tmp_path, epochs=1, max_steps=1)
    [path] = tmp_path.glob("texts_*.txt")
    said, heard, *_ = path.read_text(encoding="utf-8").splitlines()
    texts = [" ".join(row.text.split()) for rows in load_rows(CONFIG) for row in rows]
    assert said.removeprefix("said:  ") in texts and heard.startswith("heard: ")

#: slot table_row when model=whisper dataset=files
*_, targets = parts[0][0]
assert build_tokenizer(config).decode(targets[None])[0].lower() == "b a"

#: slot wrong_rows when model=whisper dataset=files
f"a/1.wav,{'ab ' * 999}": "line 3: its text has .* tokens, and --max-tokens is",

#: into tests/test_predict.py
#: slot functions when model=ctc|pretrained
def list_samples(config) -> list[tuple]:
    """The sounds of the test data that the run evaluated, and their texts as numbers."""
    return [
        (sound[:length], text[:size].tolist())
        for batch in read_batches(config)
        for sound, length, text, size in zip(*batch, strict=True)
    ]

#: slot metric when model=ctc|pretrained
samples, letters = list_samples(config), list_letters(config)
rows = predict_sounds(config, model, [sound for sound, _ in samples])
edits = size = 0
for row, (_, numbers) in zip(rows, samples, strict=True):
    text = "".join(letters[number] for number in numbers)
    edits += count_edits(row["text"], text)
    size += len(text)
assert edits / size == pytest.approx(reported["test_cer"], rel=1e-6)

#: slot five when model=ctc|pretrained
sounds = [sound for sound, _ in list_samples(config)]
rows = predict_sounds(config, model, (5 * sounds)[:5])  # there may be fewer
rows = [{**row, "sound": ""} for row in rows]

#: slot metric when model=whisper
rows, texts = [], []
for sounds, _, targets in read_batches(config):
    rows += predict_sounds(config, model, list(sounds))
    texts += model.tokenizer.decode(targets)
rates = error_rates(count_errors([row["text"] for row in rows], texts).sum(dim=0))
for name, value in rates.items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-6)

#: slot five when model=whisper
sounds = list(read_batches(config)[0][0])
rows = predict_sounds(config, model, (5 * sounds)[:5])  # there may be fewer
rows = [{**row, "sound": ""} for row in rows]
