import pytest
import torch
import torch.nn.functional as F

import train
from data import (
    build_datasets,
    build_loaders,
    collate,
    count_frames,
    list_letters,
    prepare,
    sample_rate,
)
from helpers import SETTINGS, build_exact_model, run
from metrics import BLANK, SPACE, count_errors, error_rates, read_letters
from model import find_heard

#: slot tests
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
    run(tmp_path, epochs=1, limit_batches=1)
    [path] = tmp_path.glob("texts_*.txt")
    letters, (_, text) = list_letters(CONFIG), build_loaders(CONFIG)[1].dataset[0]
    said = "".join(letters[number] for number in text)
    assert path.read_text(encoding="utf-8").startswith(f"said:  {said}\nheard: ")

#: slot table_row when dataset=files
letters = list_letters(config)
assert letters[:2] == ["", " "] and {"a", "b"} <= {letter.lower() for letter in letters}
sound, text = parts[0][0]
assert "".join(letters[number] for number in text).lower() == "b a" and len(sound) > 1

#: slot wrong_rows when dataset=files
f"a/1.wav,{'abc' * 99}": "line 3: 1.00 seconds of sound are .* letters needs 297",
f"a/1.wav,{'a' * 30}": "line 3: .* a text of 30 letters needs 59",
