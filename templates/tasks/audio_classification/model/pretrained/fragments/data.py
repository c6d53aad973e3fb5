#: slot prepare
def prepare(sound: Tensor, config) -> tuple[Tensor, int]:
    """The model input of a sound, always of the same size, and its true length."""
    extractor = load_extractor(config.pretrained_name)
    rate = sample_rate(config)
    size = round(config.seconds * rate)
    # models of spectrograms, such as AST and Whisper, have a fixed length
    padding = {"padding": "max_length", "max_length": size} if extractor.feature_size == 1 else {}
    sound = sound[:size].numpy()
    batch = extractor(sound, sampling_rate=rate, return_tensors="pt", **padding)
    inputs = batch[extractor.model_input_names[0]][0]
    mask = batch.get("attention_mask")
    return inputs, len(inputs) if mask is None else int(mask.sum())
