from audio import log_mel

#: replace spectrogram
# models such as wav2vec2 take the sound itself, and AST and Whisper more frames than bands
spectrogram = log_mel(inputs, 16000, 64) if inputs.dim() == 1 else inputs
if spectrogram.shape[0] < spectrogram.shape[1]:
    spectrogram = spectrogram.T
