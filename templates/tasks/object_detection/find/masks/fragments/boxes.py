from masks import FEATURES, split

#: replace rows
def find_objects(outputs: Tensor) -> Tensor:
    """The detections of each image, from the highest score to the lowest.

    The shape is (batch, 100, 6 + places). A row has the box, the score, the class, and the logit of
    its mask at each place. Where nothing is left, the score is 0.
    """
    boxes, logits, weights, features = split(outputs)
    scores = logits.sigmoid()

#: replace found
weights = weights.gather(1, (places // classes).unsqueeze(2).expand(-1, -1, FEATURES))
found = torch.cat([boxes, labels.unsqueeze(2), weights], dim=2)
found = found.gather(1, order.unsqueeze(2).expand(-1, -1, 5 + FEATURES))

#: slot mask_logits
found = torch.cat([found[..., :6], found[..., 6:] @ features.transpose(1, 2)], dim=2)
