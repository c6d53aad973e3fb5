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


def sample_rate(config) -> int:
    """The sampling rate that prepare() expects, in Hz."""
    return load_extractor(config.pretrained_name).sampling_rate
