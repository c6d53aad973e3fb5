import torch
import train
from data import class_names, prepare
from helpers import SETTINGS
from model import build_model

#: slot tests
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
