from boxes import find_objects
from loss import mask_loss
from masks import FEATURES, decode, encode, find_masks, inside
from metrics import mask_shares
from pycocotools import mask as coco

#: slot masks_of_objects
"masks": inside(torch.tensor([row[:4] for row in rows]).float().reshape(-1, 4), 64, 64, 64),

#: replace random_outputs
outputs = torch.randn(2, 64, 7 + 2 * FEATURES)

#: replace shape
assert found.shape == (2, 100, 6 + 64)

#: replace best
best = outputs[..., 4:7].sigmoid().flatten(1).max(dim=1)

#: slot tests
def test_each_detection_has_the_mask_of_its_place():
    outputs = torch.randn(2, 64, 7 + 2 * FEATURES)
    outputs[..., 2:4] = outputs[..., :2] + 1
    scores, weights, features = outputs[0].split([7, FEATURES, FEATURES], dim=1)
    place = scores[:, 4:].amax(dim=1).argmax()
    expected = features @ weights[place]
    torch.testing.assert_close(find_objects(outputs)[0, 0, 6:], expected)


def mask_rows(masks: torch.Tensor) -> torch.Tensor:
    """Detections of class 0 with these masks, one pixel at each place, in boxes of 8 x 8 pixels."""
    box = torch.tensor([0.0, 0.0, 8.0, 8.0, 0.9, 0.0]).expand(len(masks), 6)
    return torch.cat([box, 2.0 * masks.flatten(1) - 1], dim=1)


def test_overlaps_of_masks_are_those_of_pycocotools():
    """With a crowd, an empty mask, and a detection of another class."""
    draw = torch.Generator().manual_seed(0)
    found, true = (torch.rand(n, 8, 8, generator=draw) > 0.6 for n in (5, 3))
    found[0] = False
    rows = mask_rows(found)
    assert torch.equal(find_masks(rows, 8, 8, 8), found)
    rows[1, 5] = 1.0
    image = {
        "labels": torch.tensor([0, 0, 0]),
        "crowd": torch.tensor([False, True, False]),
        "masks": true,
    }
    values = coco.iou(list(map(encode, found)), list(map(encode, true)), [0, 1, 0])
    expected = torch.from_numpy(values)
    expected[1] = 0  # another class
    assert torch.equal(mask_shares(rows, image), expected)


def test_masks_are_written_and_read():
    mask = torch.rand(5, 7, generator=torch.Generator().manual_seed(0)) > 0.5
    assert torch.equal(decode(encode(mask)), mask)
    assert set(encode(mask)) == {"size", "counts"} and encode(mask)["size"] == [5, 7]


def test_a_mask_ends_where_its_box_does():
    """One pixel beyond it, of the image that the model has seen."""
    row = mask_rows(torch.ones(1, 8, 8))
    row[0, :4] = torch.tensor([8.0, 12.0, 16.0, 24.0])
    [small], [large] = find_masks(row, 32, 32, 32), find_masks(row, 32, 64, 96)
    assert small.sum() == (8 + 2) * (12 + 2) and small[11:25, 7:17].all()
    assert large.sum() == 3 * (8 + 2) * 2 * (12 + 2) and large[22:50, 21:51].all()


def test_each_object_has_a_mask_as_large_as_the_image():
    for image, target in map(build_datasets(train.Config(**SETTINGS))[0].__getitem__, range(20)):
        masks = target["masks"]
        assert masks.dtype == torch.bool
        assert masks.shape == (len(target["labels"]), *image.shape[1:])


def test_the_loss_falls_where_a_mask_is_right():
    boxes, masks = torch.tensor([[4.0, 4.0, 20.0, 20.0]]), torch.zeros(1, 32, 32).bool()
    masks[0, 4:20, 4:12] = True
    right = 20 * (masks[:, ::4, ::4].flatten(1).float() - 0.5)
    [low], [high] = mask_loss(right, masks, boxes), mask_loss(-right, masks, boxes)
    assert low < 0.01 < high
    beyond = right.clone()
    beyond[:, -1] = 20.0  # outside of the box
    assert mask_loss(beyond, masks, boxes) == low
