import torch
import train
from data import augment

#: slot tests
def test_boxes_follow_their_objects():
    image, target = paint((6, 8, 12, 11))
    generator, config, seen = torch.Generator().manual_seed(0), train.Config(), []
    for _ in range(50):
        changed, moved = augment(image, target, config, generator)
        assert moved["boxes"].tolist() == find_edges(changed)
        seen += moved["boxes"].tolist()
    assert sorted(map(tuple, {*map(tuple, seen)})) == [(6, 8, 12, 11), (12, 8, 18, 11)]
    assert augment(*paint(), config, generator)[1]["boxes"].shape == (0, 4)
