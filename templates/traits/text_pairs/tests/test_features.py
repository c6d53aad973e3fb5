import pytest
import torch

import train
from contrast import find_rivals, rank_positives
from data import build_datasets, collate, number_texts, tokenize
from helpers import SETTINGS, build_exact_model
from metrics import retrieval_scores

#: slot tests
def test_a_batch_has_the_texts_of_its_rows():
    config = train.Config(**SETTINGS)
    texts = list(number_texts(config))
    rows = build_datasets(config)[0][:3]
    tokens, mask, numbers = collate(rows, config)
    assert tokens.shape == mask.shape and tokens.shape[:2] == numbers.shape
    for place, (row, _) in enumerate(rows):
        assert tuple(texts[number] for number in numbers[place]) == row
        for other, text in enumerate(row):
            [alone], _ = tokenize([text], config)
            length = len(alone)
            #: slot length
            assert tokens[place, other, :length].tolist() == alone.tolist()
            assert not mask[place, other, length:].any()


def test_padding_does_not_change_a_vector():
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    texts = ["one", "a text of more words than the other one"]
    with torch.no_grad():
        alone, together = (model(*tokenize(part, config)) for part in (texts[:1], texts))
    torch.testing.assert_close(together[:1], alone, rtol=0, atol=1e-5)
    torch.testing.assert_close(together.norm(dim=1), torch.ones(2), rtol=0, atol=1e-5)


def test_texts_of_an_anchor_are_not_negatives():
    """Of the rows: themselves, an equal positive, the anchor itself, and another of its own."""
    rows = torch.tensor([[0, 1, 2], [3, 1, 0], [4, 5, 6], [0, 7, 5]])
    expected = [[[0, 1], [0, 0], [1, 1], [0, 1]], [[0, 1], [0, 1], [1, 1], [1, 1]]]
    assert find_rivals(rows[:2], rows).int().tolist() == expected


def test_ranks_are_those_among_all_texts():
    """The second row has the positive of the first: it counts once, also as a rival."""
    numbers = torch.tensor([[0, 1], [2, 1], [3, 4], [5, 6]])
    angles = torch.tensor([[0, 30], [60, 30], [90, 60], [180, 10]]).deg2rad()
    vectors = torch.stack([angles.cos(), angles.sin()], dim=2)
    losses, ranks = rank_positives(vectors, numbers, temperature=0.5)
    assert ranks.tolist() == [2, 2, 1, 3]
    # the first: 30 degrees, beside rivals at 60 and at 10
    similarities = torch.tensor([30, 60, 10]).deg2rad().cos() / 0.5
    assert float(losses[0]) == pytest.approx(float(-similarities.log_softmax(dim=0)[0]), rel=1e-5)
    scores = {"recall_at_1": 1 / 4, "recall_at_10": 1.0, "mrr": (1 / 2 + 1 / 2 + 1 + 1 / 3) / 4}
    assert retrieval_scores(ranks) == pytest.approx(scores)
    same = torch.ones(4, 2, 2) / 2**0.5
    assert rank_positives(same, numbers, 0.5)[1].tolist() == [3, 3, 3, 3], "a tie is lost"
