#: into data.py at prepare
"""Feature extractors of pretrained models of sounds."""

from functools import cache

from lib.access import check_hub
from transformers import AutoFeatureExtractor, FeatureExtractionMixin


@cache
def load_extractor(name: str) -> FeatureExtractionMixin:
    """The feature extractor of a pretrained model."""
    check_hub(name)
    try:
        return AutoFeatureExtractor.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The feature extractor of {name!r} can't be loaded: {error}") from error
