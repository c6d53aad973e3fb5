import torch
import train
from data import augment

#: slot tests
def test_objects_that_are_erased_are_left_out():
    image, target = paint((6, 8, 12, 11))
    generator, config, kept = torch.Generator().manual_seed(0), train.Config(), []
    for _ in range(200):
        changed, seen = augment(image, target, config, generator)
        assert len(seen["boxes"]) == len(seen["labels"]) == len(find_edges(changed))
        kept.append(len(seen["boxes"]))
    assert 100 < sum(kept) < 200
