import torch.nn.functional as F

#: slot functions
def find_objects(outputs: Tensor) -> Tensor:
    """The detections of each image, shape (batch, 100, 6), from the highest score to the lowest.

    A row has the box, the score and the class. The score of an unused row is 0. A query can be
    found with several classes. These models learn to find an object once, so that no boxes are
    removed.
    """
    boxes, scores = outputs[..., :4], outputs[..., 4:]
    classes = scores.shape[2]
    scores, places = scores.flatten(1).topk(min(DETECTIONS, scores[0].numel()))
    boxes = boxes.gather(1, (places // classes).unsqueeze(2).expand(-1, -1, 4))
    found = torch.cat([boxes, scores.unsqueeze(2), (places % classes).unsqueeze(2)], dim=2)
    return F.pad(found, (0, 0, 0, DETECTIONS - found.shape[1]))
