import torch
import train
from boxes import DETECTIONS, STRIDE, find_centers, find_objects, iou, suppress
from data import build_datasets, build_loaders, collate
from helpers import SETTINGS, run
from loss import assign, generalized_iou
from metrics import count_objects, detection_scores, judge
from model import build_model
from PIL import Image

#: slot tests
def objects(*rows: tuple) -> dict[str, torch.Tensor]:
    """Objects of an image: boxes, a class, and whether it is a crowd."""
    return {
        "boxes": torch.tensor([row[:4] for row in rows]).float().reshape(-1, 4),
        "labels": torch.tensor([row[4] for row in rows]).long(),
        "crowd": torch.tensor([len(row) > 5 for row in rows]).bool(),
        #: slot masks_of_objects
    }


def found(*rows: tuple) -> torch.Tensor:
    """Detections of an image: boxes, a score and a class."""
    missing = [(0,) * 6] * (DETECTIONS - len(rows))
    return torch.tensor([*rows, *missing]).float()


def test_iou():
    boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [2.0, 0.0, 6.0, 4.0], [5.0, 5.0, 6.0, 6.0]])
    expected = torch.tensor([[1, 1 / 3, 0], [1 / 3, 1, 0], [0, 0, 1]])
    torch.testing.assert_close(iou(boxes.unsqueeze(1), boxes), expected)


def test_each_object_is_found_once():
    """By the detection with the highest score. Any number of detections may find a crowd."""
    boxes = found(
        (0, 0, 10, 10, 0.9, 0),  # the first object
        (0, 0, 10, 9, 0.8, 0),  # the same one again
        (0, 0, 10, 10, 0.7, 1),  # another class
        (21, 20, 30, 30, 0.6, 0),  # the second object, up to an IoU of 0.9
        (50, 50, 60, 60, 0.5, 0),  # the crowd
        (52, 52, 70, 60, 0.4, 0),  # the crowd
        (20, 20, 30, 30, 0.0, 0),  # the second object, but taken out
    )
    image = objects((0, 0, 10, 10, 0), (20, 20, 30, 30, 0), (50, 50, 90, 90, 0, "crowd"))
    [rows] = judge(boxes.unsqueeze(0), [image])
    assert rows[:6, 2].tolist() == [1, 0, 0, 1, -1, -1]
    assert rows[3, 2:].tolist() == 9 * [1] + [0]
    assert set(rows[6:, 2:].flatten().tolist()) == {-1}
    assert count_objects([image, objects()], 2).tolist() == [[2, 0], [0, 0]]


def test_average_precision_is_that_of_all_images():
    """Counted by hand: of the first class, two of three objects, after a wrong detection."""
    images = [objects((0, 0, 9, 9, 0), (20, 20, 29, 29, 0)), objects(), objects((0, 0, 9, 9, 0))]
    boxes = [
        found((0, 0, 9, 9, 0.9, 0), (20, 20, 29, 29, 0.5, 0)),
        found((0, 0, 9, 9, 0.7, 0)),
        found((0, 0, 9, 9, 0.8, 1)),  # of a class that has no object
    ]
    judged = torch.cat([judge(b[None], [i]) for b, i in zip(boxes, images, strict=True)])
    scores = detection_scores(judged, count_objects(images, 2))
    # a precision of 1 up to a recall of 1/3 (34 of 101 places), of 2/3 up to 2/3 (33 places)
    expected = (34 + 33 * 2 / 3) / 101
    assert all(abs(value - expected) < 1e-9 for value in scores.values())
    nothing = detection_scores(judged, torch.zeros(3, 2, dtype=torch.long))
    assert set(nothing.values()) == {-1.0}, "as in the COCO tools"


def test_boxes_are_in_their_images():
    for image, target in map(build_datasets(train.Config(**SETTINGS))[0].__getitem__, range(20)):
        assert image.min() >= 0 and image.max() <= 1
        boxes = target["boxes"]
        assert boxes.shape == (len(target["labels"]), 4)
        assert (boxes[:, :2] < boxes[:, 2:]).all()
        assert (boxes >= 0).all() and (boxes <= image.shape[-1]).all()


def test_images_without_objects_are_learned_too():
    config = train.Config(**SETTINGS)
    image = build_loaders(config)[0].dataset[0][0]
    images, targets = collate([(image, objects()), (image, objects((4, 4, 20, 20, 0)))])
    outputs = build_model(config)(images)
    losses = train.compute_loss(outputs, targets)
    losses.sum().backward()
    assert torch.isfinite(losses).all() and (losses > 0).all()
    alone = train.compute_loss(outputs[:1], targets[:1])
    torch.testing.assert_close(alone[0], losses[0], msg="the loss depends on the other images")


def test_pictures_are_drawn(tmp_path):
    run(tmp_path, epochs=1, limit_batches=1)
    [path] = tmp_path.glob("boxes_*.png")
    picture = Image.open(path)
    assert picture.width % (picture.height // 2) == 0


def test_boxes_that_overlap_a_better_one_are_removed():
    """One after the other, of all classes and sizes, as if there were no other image."""
    rng = torch.Generator().manual_seed(0)
    corners = 40 * torch.rand(3, 60, 2, generator=rng)
    boxes = torch.cat([corners, corners + 5 + 30 * torch.rand(3, 60, 2, generator=rng)], dim=2)
    labels = torch.randint(2, (3, 60), generator=rng)
    for image, classes, stays in zip(boxes, labels, suppress(boxes, labels), strict=True):
        kept = []
        for place in range(60):
            same = [other for other in kept if classes[other] == classes[place]]
            if all(iou(image[other], image[place]) <= 0.6 for other in same):
                kept.append(place)
        assert stays.nonzero().flatten().tolist() == kept
        assert 2 < len(kept) < 60


def test_detections_are_sorted_by_score():
    #: region random_outputs
    outputs = torch.randn(2, 64, 7)
    #: end random_outputs
    outputs[..., 2:4] = outputs[..., :2] + 1
    found = find_objects(outputs)
    #: region shape
    assert found.shape == (2, 100, 6)
    #: end shape
    assert (found[:, 1:, 4] <= found[:, :-1, 4]).all()
    #: region best
    best = outputs[..., 4:].sigmoid().flatten(1).max(dim=1)
    #: end best
    torch.testing.assert_close(found[:, 0, 4], best.values)
    assert torch.equal(found[:, 0, 5], (best.indices % 3).float())


def test_the_places_of_an_object_are_at_its_center():
    boxes = torch.tensor([[0.0, 0.0, 32.0, 16.0], [14.0, 6.0, 18.0, 10.0]])
    places = assign(boxes[:1], 64)[0]
    distances = (find_centers(64, torch.device("cpu"))[places] - torch.tensor([16.0, 8.0])).abs()
    assert len(places) == 4 and (distances < 1.5 * STRIDE).all()
    assert assign(boxes, 64)[1].tolist() == 4 * [1], "the smaller object gets them"
    assert len(assign(boxes[:0], 64)[0]) == 0


def test_generalized_iou():
    box, other = torch.tensor([[0.0, 0.0, 2.0, 2.0]]), torch.tensor([[3.0, 0.0, 5.0, 2.0]])
    assert generalized_iou(box, box).item() == 1
    torch.testing.assert_close(generalized_iou(box, other), torch.tensor([-2 / 10]))
