import torch

import train
from boxes import STRIDE, find_centers, find_objects, iou, suppress
from data import build_loaders, collate
from helpers import SETTINGS
from loss import assign, generalized_iou
from model import build_model

#: slot tests
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
