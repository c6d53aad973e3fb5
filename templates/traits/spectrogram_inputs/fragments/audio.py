#: slot functions
def normalize(spectrogram: Tensor) -> Tensor:
    """The same with the mean 0 and the standard deviation 1, however loud the sound is."""
    return (spectrogram - spectrogram.mean()) / (spectrogram.std() + 1e-5)
