import torch
import train
from data import augment

#: slot tests
def test_boxes_follow_their_objects():
    """Over the edge, too: the second object is a pixel wide, and may disappear."""
    generator, config = torch.Generator().manual_seed(0), train.Config()
    for box in ((6, 8, 12, 11), (23, 8, 24, 11)):
        image, target = paint(box)
        seen = []
        for _ in range(100):
            changed, moved = augment(image, target, config, generator)
            assert moved["boxes"].tolist() == find_edges(changed)
            assert len(moved["labels"]) == len(moved["crowd"]) == len(moved["boxes"])
            seen.append(str(moved["boxes"].tolist()))
        assert len({*seen}) == (9 if box[0] == 6 else 7)
