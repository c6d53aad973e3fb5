import train
from data import build_datasets
from helpers import SETTINGS

#: slot tests
def test_mnist_has_three_parts():
    parts = build_datasets(train.Config(**SETTINGS))
    assert [len(part) for part in parts] == [50_000, 5_000, 5_000]
    images = {index for part in parts for index in part.indices}
    assert len(images) == 60_000, "an image is in two parts"
    image, label = parts[0][0]
    assert image.shape == (1, 28, 28) and image.min() == 0 and image.max() <= 1
    assert 0 <= label <= 9
