from audio import log_mel, normalize

#: slot prepare
def prepare(sound: Tensor, config) -> Tensor:
    """The spectrogram of a sound, shape (frames, mels)."""
    return normalize(log_mel(sound, config.sample_rate, config.mels))


def sample_rate(config) -> int:
    """The rate of what prepare() takes, in Hz."""
    return config.sample_rate


def count_frames(samples: int, config) -> int:
    """How many frames the model makes of this many samples: one in 20 ms."""
    return (samples // round(0.01 * config.sample_rate) + 2) // 2
