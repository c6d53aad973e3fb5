import torch
import train
from data import build_loaders
from helpers import SETTINGS

#: slot tests
def test_training_changes_in_each_epoch_and_evaluation_does_not():
    config = train.Config(**SETTINGS)
    train_set, val_set, _ = (loader.dataset for loader in build_loaders(config))

    def read(data, rows) -> list:
        return [data[row][1].tolist() for row in rows]

    first, fixed = read(train_set, range(8)), read(val_set, range(2))
    assert len({str(one) for one in first}) > 1, "all images have the same"
    train_set.set_epoch(1)
    assert read(train_set, range(8)) != first, "two epochs have the same"
    train_set.set_epoch(0)
    torch.rand(1)  # other random numbers in between, and another order
    assert read(train_set, reversed(range(8))) == first[::-1], "a resumed run differs"
    other = build_loaders(train.Config(**SETTINGS, seed=1))[1].dataset
    assert read(val_set, range(2)) == read(other, range(2)) == fixed
