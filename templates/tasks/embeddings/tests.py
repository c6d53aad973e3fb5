from math import log
from unittest import mock

import gradio as gr
import pytest
import torch
from safetensors.torch import load_file

import train
from contrast import find_rivals, rank_pairs, rank_positives
from data import build_datasets, collate, number_items, number_texts, read_image, tokenize
from helpers import SETTINGS, build_exact_model, build_sgd, run
from metrics import pair_scores, retrieval_scores

#: into tests/helpers.py
#: slot settings when dataset=images|hub_images
"image_size": 16,

#: slot settings when dataset=images|hub_images without data_loading
"num_workers": 0,  # starting workers takes longer than a test

#: into tests/test_app.py
#: slot values without image_texts
with pytest.raises(gr.Error, match="some texts to search"):
    page.fn("a text", " \n")
values = ["The doctor bought the car.", "It rained.\n\nThe doctor bought the car."]

#: slot expected without image_texts
[best, other] = shown
assert best == ["The doctor bought the car.", pytest.approx(1, abs=1e-5)]
assert other[0] == "It rained." and other[1] < best[1]

#: slot values with image_texts
with pytest.raises(gr.Error, match="an image or a text"):
    page.fn(None, "a text", " \n")
values = [None, "a handwritten seven", "It rained.\n\na handwritten seven"]

#: slot expected with image_texts
[best, other] = shown
assert best == ["a handwritten seven", pytest.approx(1, abs=1e-5)]
assert other[0] == "It rained." and other[1] < best[1]

#: into tests/test_features.py
#: slot tests without image_texts
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

#: slot tests with image_texts
def test_a_batch_has_images_and_their_texts():
    config = train.Config(**SETTINGS)
    items = list(number_items(config))
    pairs = build_datasets(config)[0]
    images, tokens, mask, numbers = collate([pairs[place] for place in range(3)], config)
    assert len(images) == len(tokens) == 3 and tokens.shape == mask.shape
    assert images.min() >= 0 and images.max() <= 1
    for place, (image, text) in enumerate(pairs.rows[:3]):
        assert [items[number] for number in numbers[place]] == [image, text]
        [alone], _ = tokenize([text], config)
        length = int(mask[place].sum())
        assert tokens[place, :length].tolist() == alone[:length].tolist()
        assert not mask[place, length:].any()


def test_an_image_is_in_one_part():
    parts = [{image for image, _ in part.rows} for part in build_datasets(train.Config(**SETTINGS))]
    assert len(set.union(*parts)) == sum(map(len, parts))


def test_padding_does_not_change_a_vector():
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    texts = ["one", "a text of more words than the other one"]
    with torch.no_grad():
        alone, both = (model.embed_texts(*tokenize(part, config)) for part in (texts[:1], texts))
    torch.testing.assert_close(both[:1], alone, rtol=0, atol=1e-5)
    torch.testing.assert_close(both.norm(dim=1), torch.ones(2), rtol=0, atol=1e-5)


def test_rows_with_the_same_image_or_text_are_no_rivals():
    rows = torch.tensor([[0, 5], [1, 5], [0, 6], [2, 7]])
    expected = [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 0]]
    assert find_rivals(rows, rows).int().tolist() == expected


def test_ranks_are_those_among_all_images_and_texts():
    """Image 0 has the texts 5 and 6, and text 5 the images 0 and 1: the closest one counts."""
    numbers = torch.tensor([[0, 5], [0, 6], [1, 5], [2, 7]])
    angle = {0: 0, 1: 80, 2: 35, 5: 40, 6: 10, 7: 5}
    angles = torch.tensor([[angle[number] for number in row] for row in numbers.tolist()])
    vectors = torch.stack([angles.deg2rad().cos(), angles.deg2rad().sin()], dim=2)
    losses, ranks = rank_pairs(vectors * 2, numbers)
    # text 7 is closer to image 0 than its texts, and 5 is closer to image 2 than its own
    assert ranks.tolist() == [[2, 2], [2, 1], [1, 2], [3, 2]]
    others = torch.tensor([40, 5]).deg2rad().cos() * 4, torch.tensor([40, 5]).deg2rad().cos() * 4
    expected = -(others[0].log_softmax(dim=0)[0] + others[1].log_softmax(dim=0)[0]) / 2
    assert float(losses[0]) == pytest.approx(float(expected), rel=1e-5)
    scores = pair_scores(ranks)
    assert scores["text_recall_at_1"] == 1 / 4 and scores["image_recall_at_1"] == 1 / 4
    assert scores["text_mrr"] == pytest.approx((1 / 2 + 1 / 2 + 1 + 1 / 3) / 4)
    assert scores["image_mrr"] == pytest.approx((1 / 2 + 1 + 1 / 2 + 1 / 2) / 4)
    assert scores["mrr"] == (scores["text_mrr"] + scores["image_mrr"]) / 2
    same = torch.ones(4, 2, 2)
    _, ranks = rank_pairs(same, numbers)
    assert ranks.tolist() == [[2, 2], [2, 3], [3, 2], [3, 3]], "a tie is lost"


def test_the_temperature_is_learned_and_clamped():
    model = build_exact_model(train.Config(**SETTINGS))
    for value, expected in (9.0, log(100)), (-1.0, 0.0), (3.0, 3.0):
        torch.nn.init.constant_(model.log_scale, value)
        model.clamp_temperature()
        assert float(model.log_scale.detach()) == pytest.approx(expected)
    assert model.log_scale.requires_grad

#: replace gradient_accumulation with gradient_accumulation without image_texts
@pytest.mark.parametrize("batches", [4, 6], ids=["whole window", "two batches left out"])
def test_a_window_is_one_large_batch(tmp_path, batches):
    """4 batches of 8 make the same step as one of 32 whose rows only see the texts of their 8."""
    changes = {"epochs": 1, "learning_rate": 0.03}
    small = {"batch_size": 8, "gradient_accumulation_steps": 4, "limit_batches": batches}
    large = {"batch_size": 32, "gradient_accumulation_steps": 1, "limit_batches": 1}
    compute = train.compute_loss

    def compute_by_batches(vectors, numbers, others, other_numbers, temperature):
        tensors = (vectors, numbers, others, other_numbers)
        parts = zip(*(tensor.split(8) for tensor in tensors), strict=True)
        return torch.cat([compute(*part, temperature) for part in parts])

    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(tmp_path / "small", **changes, **small)
        with mock.patch.object(train, "compute_loss", compute_by_batches):
            run(tmp_path / "large", **changes, **large)
    window = load_file(tmp_path / "small" / "model.safetensors")
    for name, weights in load_file(tmp_path / "large" / "model.safetensors").items():
        message = f"{name}: divide by the samples of the window"
        torch.testing.assert_close(window[name], weights, rtol=0, atol=1e-5, msg=message)

#: replace gradient_accumulation with gradient_accumulation with image_texts
@pytest.mark.parametrize("batches", [4, 6], ids=["whole window", "two batches left out"])
def test_a_window_is_one_large_batch(tmp_path, batches):
    """4 batches of 8 make the same step as one of 32 whose rows only compete within their 8."""
    changes = {"epochs": 1, "learning_rate": 0.03}
    small = {"batch_size": 8, "gradient_accumulation_steps": 4, "limit_batches": batches}
    large = {"batch_size": 32, "gradient_accumulation_steps": 1, "limit_batches": 1}
    compute = train.compute_loss

    def compute_by_batches(*tensors):
        parts = zip(*(tensor.split(8) for tensor in tensors), strict=True)
        return torch.cat([compute(*part) for part in parts])

    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(tmp_path / "small", **changes, **small)
        with mock.patch.object(train, "compute_loss", compute_by_batches):
            run(tmp_path / "large", **changes, **large)
    window = load_file(tmp_path / "small" / "model.safetensors")
    for name, weights in load_file(tmp_path / "large" / "model.safetensors").items():
        message = f"{name}: divide by the samples of the window"
        torch.testing.assert_close(window[name], weights, rtol=0, atol=1e-5, msg=message)

#: into tests/test_predict.py
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
