#: with many_labels
import pytest
import torch

from lib.scores import label_scores

#: slot tests
def test_scores_of_labels_are_as_counted_by_hand():
    """Three labels: one is ranked right, one shares a rank, and one does not occur."""
    logits = torch.tensor([[3.0, 1.0, -1.0], [2.0, 1.0, -1.0], [-1.0, -2.0, -1.0]])
    labels = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    scores = label_scores(logits, labels)
    # two of two are found; one of two, with one that is wrong; the third is left out
    assert scores["f1"] == pytest.approx((1 + 2 * 1 / 4) / 2)
    # half of the samples of the second label come at precision 1/2, the others at 2/3
    assert scores["average_precision"] == pytest.approx((1 + (1 / 2 + 2 / 3) / 2) / 2)
    assert label_scores(logits[2:], 0 * labels[2:]) == {"f1": 0.0, "average_precision": 0.0}
