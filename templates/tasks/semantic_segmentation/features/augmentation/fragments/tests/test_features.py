import torch
import train
from data import VOID, Augmented, augment

#: slot tests
def paint() -> tuple[torch.Tensor, torch.Tensor]:
    """A mask of blocks, also of VOID, and an image with a brightness for each class."""
    blocks = torch.tensor([[0, 1, 2, 1], [2, 0, 0, 1], [1, VOID, 2, 2], [0, 1, 1, 0]])
    mask = blocks.repeat_interleave(8, dim=0).repeat_interleave(8, dim=1)
    brightness = torch.zeros(256)
    brightness[torch.tensor([0, 1, 2, VOID])] = torch.tensor([0.2, 0.4, 0.6, 0.8])
    return brightness[mask].expand(3, -1, -1), mask


def test_augmentation_depends_on_seed_epoch_and_index():
    #: region painted_data
    data = Augmented([paint()] * 30, train.Config())
    #: end painted_data

    def read(epoch: int, order=range(30)) -> list[list]:
        data.set_epoch(epoch)
        samples = {index: data[index] for index in order}
        return [[part.tolist() for part in samples[index]] for index in range(30)]

    first = read(0)
    assert any(one != first[0] for one in first), "all images are changed in the same way"
    assert read(1) != first
    torch.rand(1)
    assert read(0, reversed(range(30))) == first, "use the generator of the image"


def test_the_mask_follows_its_image():
    """Each class of the mask is where its brightness is, and no class comes in."""
    image, mask = paint()
    #: region given
    given, config = (image, mask), train.Config()
    #: end given
    numbers, drawn = torch.get_rng_state(), []
    for seed in range(40):
        generator = torch.Generator().manual_seed(seed)
        changed, moved = augment(*given, config, generator)
        assert type(changed) is type(moved) is torch.Tensor and moved.dtype == mask.dtype
        assert changed.shape == image.shape and moved.shape == mask.shape
        assert {*moved.unique().tolist()} <= {0, 1, 2, VOID}
        # the colours of a photo change, but those of a class stay together and in their order
        for pair in ((0, 1), (1, 2)):
            pixels = [changed[0][moved == label] for label in pair]
            if all(map(len, pixels)):
                edge = (pixels[0].median() + pixels[1].median()) / 2
                assert pixels[0].median() < edge
                wrong = (pixels[0] > edge).sum() + (pixels[1] < edge).sum()
                assert wrong <= 0.1 * mask.numel(), "more than the edges, which scaling blurs"
        drawn.append((changed, moved))
    assert any(not torch.equal(one, mask) for _, one in drawn)
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different dropout"
