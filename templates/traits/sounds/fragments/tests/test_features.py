from math import pi

import torch
from audio import log_mel, mel_bands, resample

#: slot tests
def test_resampling_keeps_what_the_new_rate_can_represent():
    """A tone of 1 kHz stays as it is. A tone of 10 kHz would alias to 6 kHz at 16 kHz."""
    time = {rate: torch.arange(rate).double() / rate for rate in (16000, 44100)}
    low, high = ((2 * pi * hertz * time[44100]).sin() for hertz in (1000, 10000))
    found = resample(low, 44100, 16000)
    assert len(found) == 16000
    inner = slice(2000, -2000)  # a filter needs what is before and after
    expected = (2 * pi * 1000 * time[16000]).sin()
    torch.testing.assert_close(found[inner], expected[inner], rtol=0, atol=1e-3)
    assert resample(high, 44100, 16000)[inner].abs().max() < 1e-3


def test_a_tone_is_in_its_band():
    """Of 40 bands up to 8 kHz. A frame is 10 ms."""
    tone = (2 * pi * 1000 * torch.arange(16000) / 16000).sin()
    spectrogram = log_mel(tone, 16000, 40)
    assert spectrogram.shape == (101, 40)
    bands = mel_bands(16000, 400, 40)  # 40 Hz from one frequency to the next
    assert (spectrogram[10:-10].argmax(dim=1) == bands[1000 // 40].argmax()).all()
