from audio import log_mel, normalize

#: slot prepare
def prepare(sound: Tensor, config) -> Tensor:
    """The spectrogram of a sound, shape (frames, mels)."""
    return normalize(log_mel(sound, config.sample_rate, config.mels))


def sample_rate(config) -> int:
    """The sampling rate that prepare() expects, in Hz."""
    return config.sample_rate


def count_frames(samples: int, config) -> int:
    """The number of frames that the model outputs for this many samples: one per 20 ms."""
    return (samples // round(0.01 * config.sample_rate) + 2) // 2
