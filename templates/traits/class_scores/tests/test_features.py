import pytest
import torch

from metrics import classification_scores, confusion_matrix

#: slot tests
def test_scores_are_those_of_the_whole_set():
    """The counts of 2 batches add up to scores that were computed by hand."""
    labels, predictions = torch.tensor([0, 0, 0, 1, 1, 2]), torch.tensor([0, 0, 1, 1, 1, 0])
    confusion = sum(
        confusion_matrix(predictions[part], labels[part], classes=4)
        for part in (slice(0, 4), slice(4, 6))
    )
    scores = classification_scores(confusion)
    assert scores["accuracy"] == pytest.approx(4 / 6)
    # class 0: precision 2/3, recall 2/3; class 1: 2/3 and 1; class 2: 0; class 3 does not occur
    assert scores["f1"] == pytest.approx((2 / 3 + 4 / 5 + 0) / 3)
    true, predicted = (3, 2, 1), (3, 3, 0)
    covariance = 6 * 4 - (9 + 6 + 0)
    spread = ((36 - sum(n**2 for n in true)) * (36 - sum(n**2 for n in predicted))) ** 0.5
    assert scores["matthews"] == pytest.approx(covariance / spread)
    assert classification_scores(torch.tensor([[3, 0], [0, 0]]))["matthews"] == 0.0
