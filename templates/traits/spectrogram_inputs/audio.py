#: slot functions
def normalize(spectrogram: Tensor) -> Tensor:
    """Scale to mean 0 and standard deviation 1, however loud the sound is."""
    return (spectrogram - spectrogram.mean()) / (spectrogram.std() + 1e-5)
