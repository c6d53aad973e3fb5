import torch.nn.functional as F
from audio import log_mel, normalize

#: slot prepare
def prepare(sound: Tensor, config) -> tuple[Tensor, int]:
    """The spectrogram of a sound, padded to `seconds`, (frames, mels), and its true length."""
    rate, size = config.sample_rate, round(config.seconds * config.sample_rate)
    frames = normalize(log_mel(sound[:size], rate, config.mels))
    most = len(log_mel(torch.zeros(size), rate, config.mels))
    return F.pad(frames, (0, 0, 0, most - len(frames))), len(frames)


def sample_rate(config) -> int:
    """The sampling rate that prepare() expects, in Hz."""
    return config.sample_rate
