from data import augment
import torch
import train

#: slot tests
def test_a_flip_flips_the_mask():
    image, mask = torch.rand(3, 8, 8), torch.randint(3, (8, 8))
    generator, seen = torch.Generator().manual_seed(0), set()
    for _ in range(40):
        changed, moved = augment(image, mask, train.Config(), generator)
        mirrored = not torch.equal(changed, image)
        assert torch.equal(changed, image.flip(2) if mirrored else image)
        assert torch.equal(moved, mask.flip(1) if mirrored else mask)
        seen.add(mirrored)
    assert seen == {False, True}
