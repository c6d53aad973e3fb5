import pytest
import torch
import train
from data import build_datasets, collate, count_seconds, load_rows, prepare, sample_rate
from helpers import SETTINGS, build_exact_model, run
from metrics import IGNORED, count_errors, error_rates
from model import build_tokenizer

#: slot tests
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
