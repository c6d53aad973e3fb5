import torch
import train
from boxes import DETECTIONS, iou
from data import build_datasets
from helpers import SETTINGS, run
from metrics import count_objects, detection_scores, judge
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


def test_pictures_are_drawn(tmp_path):
    run(tmp_path, epochs=1, limit_batches=1)
    [path] = tmp_path.glob("boxes_*.png")
    picture = Image.open(path)
    assert picture.width % (picture.height // 2) == 0
