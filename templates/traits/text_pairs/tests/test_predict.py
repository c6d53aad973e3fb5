import torch

from contrast import rank_positives
from data import build_datasets, number_texts
from metrics import retrieval_scores

#: slot metric
seen = sum(len(numbers) for *_, numbers in read_batches(config))
known = build_datasets(config)[2][:seen]
texts = [text for row, _ in known for text in row]
rows = predict.predict(config, model, texts)
assert [row["text"] for row in rows] == texts
vectors = torch.tensor([row["vector"] for row in rows]).unflatten(0, (seen, -1))
numbers = torch.tensor([numbers for _, numbers in known])
losses, ranks = rank_positives(vectors, numbers, config.temperature)
assert float(losses.mean()) == pytest.approx(reported["test_loss"], rel=1e-4)
for name, value in retrieval_scores(ranks).items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-12)

#: slot functions
def test_the_closest_texts_come_first(trained):
    """Each text is the closest to itself; the other cosines are those of the vectors."""
    config, model = predict.load(trained[0])
    texts = list(number_texts(config))[:7]
    rows = predict.predict(config, model, texts)
    vectors = torch.tensor([row["vector"] for row in rows])
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(7), rtol=0, atol=1e-5)
    cosines = vectors @ vectors.T
    for place, row in enumerate(predict.search(rows, rows, 3)):
        assert row["text"] == texts[place]
        found = [one["similarity"] for one in row["found"]]
        assert found == pytest.approx(cosines[place].topk(3).values.tolist(), abs=1e-6)
        others = [texts.index(one["text"]) for one in row["found"]]  # equal vectors in any order
        assert found == pytest.approx(cosines[place, others].tolist(), abs=1e-6)
    assert [len(row["found"]) for row in predict.search(rows[:2], rows[:2], 5)] == [2, 2]

#: slot five
texts = ["The doctor bought the car.", "", "one word", "A longer text. " * 100, "!"]
found = predict.predict(config, model, texts)
rows = [{f"{place}": value for place, value in enumerate(row["vector"])} for row in found]
