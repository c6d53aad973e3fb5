import torch
from boxes import STRIDE, suppress, find_objects, find_centers, iou
from loss import assign, generalized_iou

#: slot tests
def test_boxes_that_overlap_a_better_one_go():
    """One after the other, of all classes and sizes, as if there were no other image."""
    draw = torch.Generator().manual_seed(0)
    corners = 40 * torch.rand(3, 60, 2, generator=draw)
    boxes = torch.cat([corners, corners + 5 + 30 * torch.rand(3, 60, 2, generator=draw)], dim=2)
    labels = torch.randint(2, (3, 60), generator=draw)
    for image, classes, stays in zip(boxes, labels, suppress(boxes, labels), strict=True):
        kept = []
        for place in range(60):
            same = [other for other in kept if classes[other] == classes[place]]
            if all(iou(image[other], image[place]) <= 0.6 for other in same):
                kept.append(place)
        assert stays.nonzero().flatten().tolist() == kept
        assert 2 < len(kept) < 60


def test_detections_are_sorted_by_score():
    outputs = torch.randn(2, 64, 7)
    outputs[..., 2:4] = outputs[..., :2] + 1
    found = find_objects(outputs)
    assert found.shape == (2, 100, 6)
    assert (found[:, 1:, 4] <= found[:, :-1, 4]).all()
    best = outputs[..., 4:].sigmoid().flatten(1).max(dim=1)
    torch.testing.assert_close(found[:, 0, 4], best.values)
    assert torch.equal(found[:, 0, 5], (best.indices % 3).float())


def test_the_places_of_an_object_are_at_its_center():
    boxes = torch.tensor([[0.0, 0.0, 32.0, 16.0], [14.0, 6.0, 18.0, 10.0]])
    places, owners = assign(boxes[:1], 64)
    centers = find_centers(64, torch.device("cpu"))[places]
    assert len(places) == 4 and ((centers - torch.tensor([16.0, 8.0])).abs() < STRIDE).all()
    assert assign(boxes, 64)[1].tolist() == 4 * [1], "the smaller object has them"
    assert len(assign(boxes[:0], 64)[0]) == 0


def test_generalized_iou():
    box, other = torch.tensor([[0.0, 0.0, 2.0, 2.0]]), torch.tensor([[3.0, 0.0, 5.0, 2.0]])
    assert generalized_iou(box, box).item() == 1
    torch.testing.assert_close(generalized_iou(box, other), torch.tensor([-2 / 10]))
