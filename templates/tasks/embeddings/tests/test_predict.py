import torch

from contrast import rank_pairs, rank_positives
from data import build_datasets, number_texts, read_image
from metrics import pair_scores, retrieval_scores

#: slot metric without image_texts
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

#: slot functions without image_texts
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

#: slot five without image_texts
texts = ["The doctor bought the car.", "", "one word", "A longer text. " * 100, "!"]
found = predict.predict(config, model, texts)
rows = [{f"{place}": value for place, value in enumerate(row["vector"])} for row in found]

#: slot functions with image_texts
def predict_pairs(config, model, pairs: list) -> list[dict]:
    """The rows of images, and then of texts. The files of the images have numbers as names."""
    images = {f"{number}.png": image for number, (image, _) in enumerate(pairs)}
    with mock.patch.object(
        predict, "read_picture", lambda path, config: read_image(images[path.name], config)
    ):
        return predict.predict(config, model, [*images, *(text for _, text in pairs)])


def test_the_closest_come_first(trained):
    """Texts of an image and images of a text, by their cosines."""
    config, model = predict.load(trained[0])
    pairs = build_datasets(config)[2].rows[:7]
    rows = predict_pairs(config, model, pairs)
    vectors = torch.tensor([row["vector"] for row in rows])
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(14), rtol=0, atol=1e-5)
    for queries, corpus in (rows[:7], rows[7:]), (rows[7:], rows[:7]):
        for query, row in zip(queries, predict.search(queries, corpus, 3), strict=True):
            vector = torch.tensor(query["vector"])
            cosines = {tuple(one["vector"]): None for one in corpus}
            cosines = sorted((float(vector @ torch.tensor(one)) for one in cosines), reverse=True)
            found = [one.pop("similarity") for one in row["found"]]
            assert found[0] == pytest.approx(cosines[0], abs=1e-6)
            assert found == sorted(found, reverse=True) and len(found) == 3
            names = [predict.without_vector(one) for one in corpus]
            assert all(one in names for one in row["found"])
            assert predict.without_vector(query).items() <= row.items()

#: slot metric with image_texts
seen = sum(len(numbers) for *_, numbers in read_batches(config))
known = build_datasets(config)[2]
rows = predict_pairs(config, model, known.rows[:seen])
vectors = torch.tensor([row["vector"] for row in rows]).unflatten(0, (2, seen)).transpose(0, 1)
numbers = torch.tensor([known[place][2] for place in range(seen)])
losses, ranks = rank_pairs(vectors * (model.log_scale.cpu() / 2).exp(), numbers)
assert float(losses.mean()) == pytest.approx(reported["test_loss"], rel=1e-4)
for name, value in pair_scores(ranks).items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-12)

#: slot five with image_texts
image = build_datasets(config)[2][0][0]
inputs = ["a handwritten seven", "0.png", "", "A longer text. " * 100, "0.png"]
with mock.patch.object(predict, "read_picture", lambda path, config: image):
    found = predict.predict(config, model, inputs)
rows = [{f"{place}": value for place, value in enumerate(row["vector"])} for row in found]
