from audio import log_mel

#: slot spectrogram
if spectrogram.dim() == 1:  # models such as wav2vec2 take the sound itself
    spectrogram = log_mel(spectrogram, 16000, 64)
if spectrogram.shape[0] < spectrogram.shape[1]:
    spectrogram = spectrogram.T
