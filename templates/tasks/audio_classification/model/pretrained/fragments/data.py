from functools import cache
from transformers import AutoFeatureExtractor, FeatureExtractionMixin

#: slot prepare
@cache
def load_extractor(name: str) -> FeatureExtractionMixin:
    """The feature extractor of a pretrained model."""
    try:
        return AutoFeatureExtractor.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The feature extractor of {name!r} can't be loaded: {error}") from error


def prepare(sound: Tensor, config) -> tuple[Tensor, int]:
    """What the pretrained model takes of a sound, of one size for all, and its length in it."""
    extractor = load_extractor(config.pretrained_name)
    rate = sample_rate(config)
    size = round(config.seconds * rate)
    # models of spectrograms, such as AST and Whisper, have a length of their own
    padding = {"padding": "max_length", "max_length": size} if extractor.feature_size == 1 else {}
    sound = sound[:size].numpy()
    batch = extractor(sound, sampling_rate=rate, return_tensors="pt", **padding)
    inputs = batch[extractor.model_input_names[0]][0]
    mask = batch.get("attention_mask")
    return inputs, len(inputs) if mask is None else int(mask.sum())


def sample_rate(config) -> int:
    """The rate of what prepare() takes, in Hz."""
    return load_extractor(config.pretrained_name).sampling_rate
