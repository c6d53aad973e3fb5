from helpers import run
from model import to_images, to_patches
from PIL import Image

#: slot tests
def test_only_masked_patches_count():
    images = torch.rand(2, 1, 8, 8)
    patches = to_patches(images, 16)
    assert torch.equal(patches[0, 5], images[0, 0, 2:4, 2:4].flatten())
    assert torch.equal(to_images(patches, 1), images)
    seen = torch.tensor([[0, 5, 7], [15, 2, 1]])
    outputs = patches.clone()
    outputs[0, 5] += 9  # seen
    outputs[0, 6] += 0.5
    outputs[1, 0] -= 1
    losses = train.compute_loss(outputs, images, seen)
    torch.testing.assert_close(losses, torch.tensor([0.25 / 13, 1 / 13]))


def test_reconstructions_are_drawn_after_each_evaluation(tmp_path):
    run(tmp_path, limit_batches=2)
    paths = sorted(tmp_path.glob("reconstructions_*.png"))
    assert paths[-1].name == "reconstructions_00000004.png", "they have the number of their step"
    with Image.open(paths[0]) as picture:
        assert picture.width > picture.height, "up to 16 images in three rows"
