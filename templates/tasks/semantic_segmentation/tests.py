import gradio as gr
import pytest
import torch
from PIL import Image

import train
from data import VOID, Augmented, augment, build_datasets
from helpers import SETTINGS, run
from metrics import count_pixels, segmentation_scores
from model import build_model

#: into tests/test_app.py
#: slot values
Image.new("RGB", (20, 30), (200, 100, 0)).save(tmp_path / "image.png")
with pytest.raises(gr.Error, match="Choose an image first"):
    page.fn(None)
values = [str(tmp_path / "image.png")]

#: slot expected
[row] = app.predict(config, model, values)
assert shown[0].size == (20, 30) and sum(shown[1].values()) == pytest.approx(1)
assert all(row[name] == share for name, share in shown[1].items())

#: into tests/test_features.py
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
    run(tmp_path, epochs=1, max_steps=1)
    [path] = tmp_path.glob("masks_*.png")
    picture = Image.open(path)
    size = train.Config(**SETTINGS).image_size + 2
    assert picture.height == 3 * size and picture.width % size == 0

#: slot tests when model=transformers
def test_weights_that_are_trained_get_a_gradient():
    """On several processes, DistributedDataParallel waits for it."""
    config = train.Config(**SETTINGS)
    model = build_model(config)
    images = torch.rand(2, 3, config.image_size, config.image_size)
    model(images).square().sum().backward()
    found = {name for name, weight in model.named_parameters() if weight.grad is not None}
    assert found == {name for name, weight in model.named_parameters() if weight.requires_grad}

#: replace augmentation with augmentation
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

#: replace shift when features.augmentation.kind=shift|shift_and_flip with augmentation

#: replace flip when features.augmentation.kind=flip with augmentation
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

#: replace erase when features.augmentation.kind=erase with augmentation

#: into tests/test_predict.py
#: slot functions
def predict_images(config, model, images) -> list[dict]:
    def to_picture(image):
        return Image.fromarray((255 * image).round().byte().permute(1, 2, 0).numpy())

    with mock.patch.object(predict, "read_image", to_picture):
        return predict.predict(config, model, images)

#: slot metric
images, masks = (torch.cat(parts) for parts in zip(*read_batches(config), strict=True))
rows = predict_images(config, model, list(images))
predictions = torch.stack([row["mask"] for row in rows])
classes = sum(name.startswith("class_") for name in rows[0])
scores = segmentation_scores(count_pixels(predictions, masks, classes).sum(dim=0))
assert scores["mean_iou"] == pytest.approx(reported["test_mean_iou"], rel=1e-6)

#: slot five
images = list(read_batches(config)[0][0])
rows = predict_images(config, model, (5 * images)[:5])  # there may be fewer
rows = [{**row, "mask": str(row["mask"].tolist())} for row in rows]
