import torch
import train
from data import VOID, build_datasets
from helpers import SETTINGS, run
from metrics import count_pixels, segmentation_scores
from PIL import Image

#: slot tests
def test_scores_are_those_of_all_pixels():
    """Two images, with counts added up by hand. VOID pixels are ignored."""
    masks = torch.tensor([[[0, 0], [1, VOID]], [[1, 1], [1, 0]]])
    predictions = torch.tensor([[[0, 1], [1, 1]], [[1, 1], [0, 0]]])
    counts = count_pixels(predictions, masks, classes=3)
    assert counts.tolist() == [[[1, 1, 0], [2, 1, 0], [1, 2, 0]], [[1, 2, 0], [1, 3, 0], [2, 2, 0]]]
    scores = segmentation_scores(counts.sum(dim=0))
    # class 0: 2 right of 3 true and 3 predicted; class 1: 3 of 4 and 4; class 2 does not occur
    assert scores["mean_iou"] == (2 / 4 + 3 / 5) / 2
    assert scores["pixel_accuracy"] == 5 / 7


def test_void_pixels_have_no_loss():
    logits = torch.randn(2, 3, 4, 4)
    masks = torch.randint(3, (2, 4, 4))
    masks[0, :2] = masks[1] = VOID
    losses = train.compute_loss(logits, masks)
    changed = logits.clone()
    changed[0, :, :2] += 5 * torch.randn(3, 2, 4)
    torch.testing.assert_close(train.compute_loss(changed, masks)[0], losses[0])
    assert torch.isfinite(losses).all(), "an image without a known pixel"


def test_masks_have_the_classes_of_their_images():
    image, mask = build_datasets(train.Config(**SETTINGS))[0][0]
    assert image.shape == (3, *mask.shape) and mask.dtype == torch.int64
    assert image.min() >= 0 and image.max() <= 1


def test_pictures_are_drawn(tmp_path):
    run(tmp_path, epochs=1, limit_batches=1)
    [path] = tmp_path.glob("masks_*.png")
    picture = Image.open(path)
    size = train.Config(**SETTINGS).image_size + 2
    assert picture.height == 3 * size and picture.width % size == 0
