import pytest
import train
from data import build_change, to_square, with_transform
from helpers import SETTINGS
from PIL import Image

#: slot tests
def test_augmentation_draws_what_was_chosen():
    """From the original picture, with details that its scaled crop lacks."""
    stripes = Image.new("L", (256, 1))
    stripes.putdata([255 * (place % 2) for place in range(256)])
    change = build_change(train.Config(**{**SETTINGS, "image_size": 64}))
    drawn = [change(stripes.resize((256, 256))) for _ in range(20)]
    white = to_square(Image.new("RGB", (64, 64), "white"), 64)
    for image in drawn:
        assert image.shape == white.shape and image.dtype == white.dtype
        assert image.stride() == white.stride(), "batches would be stacked slower"
        assert image.min() >= 0 and image.max() <= white.max()
    assert len({tuple(image.flatten().tolist()) for image in drawn}) == 20


def test_data_without_a_transform_is_an_error():
    with pytest.raises(TypeError, match="list has no attribute `transform`"):
        with_transform([1, 2], None)
