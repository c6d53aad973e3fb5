"""What projects get from templates/lib, called directly."""

import importlib
import random
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.paths import TEMPLATES

NEEDED = ("PIL", "numpy", "pandas", "torch", "transformers")
pytestmark = pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="needs torch, and others")


class Late:
    """A module that is imported when a test needs it: to import torch takes seconds, which a run
    of other tests would pay for, too."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest looks for those of fixtures in every name of a file
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self.name), attribute)


torch, np, pd, Image = map(Late, ("torch", "numpy", "pandas", "PIL.Image"))


def load(name: str) -> Late:
    """A file of the library."""
    if str(TEMPLATES) not in sys.path:
        sys.path.append(str(TEMPLATES))
    return Late(f"lib.{name}")


chats = load("chats")
limits = load("limits")
metrics = load("metrics")
models = load("models")
rotary = load("rotary")
rows = load("rows")
samples = load("samples")
tables = load("tables")
tokenizers = load("tokenizers")


def test_the_last_answer_of_a_conversation_is_split_off():
    ignored = metrics.IGNORED
    inputs = torch.tensor([1, 2, 3, 4, 5, 6])
    targets = torch.tensor([ignored, 3, ignored, ignored, 6, 7])
    assert chats.split_at_answer((inputs, targets)) == ([1, 2, 3, 4, 5], [6, 7])


def test_made_up_questions_have_right_answers():
    questions = dict(chats.write_question(random.Random(seed)) for seed in range(50))
    assert {text.split()[0] for text in questions} == {"reverse", "sort", "add"}
    for text, answer in questions.items():
        kind, word, *more = text.split()
        right = {"reverse": word[::-1], "sort": "".join(sorted(word))}
        assert answer == (right[kind] if kind in right else str(int(word) + int(more[1])))


def test_the_hub_is_asked_once_for_what_is_not_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    asked = []

    def repo_info(self, name: str, repo_type: str, timeout: float) -> None:
        asked.append((name, repo_type))
        if name != "me/there":
            raise ConnectionError("no\n network")

    access = importlib.import_module(load("access").name)
    monkeypatch.setattr(access.HfApi, "repo_info", repo_info)
    monkeypatch.setattr(access, "HF_HUB_CACHE", str(tmp_path))
    (tmp_path / "models--me--cached/snapshots").mkdir(parents=True)
    for name in (str(tmp_path), "me/cached", "me/there"):
        access.check_hub(name)
    with pytest.raises(SystemExit, match=r"dataset 'me/cached' can't be loaded: .*: no network"):
        access.check_hub("me/cached", "dataset")
    assert asked == [("me/there", "model"), ("me/cached", "dataset")]


def test_each_class_keeps_its_share_in_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    """One or two samples are training data, which is said if something is split off."""
    splits = load("splits")
    names = ["often"] * 700 + ["seldom"] * 50 + ["rare"] * 3
    random.Random(1).shuffle(names)
    names += ["twice", "twice", "once"]
    parts = splits.split_by_class(names, [0.2, 0.1])
    said = "Too few samples to be split, all are training data: 'twice' (2), 'once' (1)\n"
    assert capsys.readouterr().out == said
    assert sorted(row for part in parts for row in part) == list(range(len(names)))
    assert list(map(len, parts)) == [530, 151, 75]
    counts = [Counter(names[row] for row in part) for part in parts]
    for name, total in Counter(names).items():
        for count, share in zip(counts, (0.7, 0.2, 0.1), strict=True):
            assert abs(count[name] - share * total) <= 2
    assert counts[0] >= Counter({"rare": 1, "twice": 2, "once": 1})
    # by chance within a class, and the same again
    assert [names[row] for row in parts[1]] != sorted(names[row] for row in parts[1])
    assert splits.split_by_class(names, [0.2, 0.1]) == parts
    capsys.readouterr()
    assert splits.split_by_class(names, [0, 0])[1:] == [[], []]
    assert capsys.readouterr().out == ""


def test_what_is_not_apart_is_a_tenth_of_the_samples() -> None:
    complete = load("splits").complete_parts
    parts = complete(range(20), [None, []], "few")
    assert [len(part) for part in parts] == [16, 2, 2]
    assert sorted(one for part in parts for one in part) == list(range(20))
    assert [[*part] for part in complete(range(20), [None, []], "few")] == [[*p] for p in parts]
    train, val, test = complete(range(20), ["own", None], "few")
    assert (len(train), val, len(test)) == (18, "own", 2)
    assert len(complete(range(3), ["own", "other"], "few")[0]) == 3, "nothing is split"
    with pytest.raises(SystemExit, match="few"):
        complete(range(9), ["own", None], "few")


def test_missing_splits_are_a_tenth_of_the_training_data():
    datasets = pytest.importorskip("datasets")
    from lib import hub

    train = datasets.Dataset.from_dict({"text": list("abcdefghijklmnopqrst")})
    splits = hub.complete_splits(datasets.DatasetDict({"train": train}))
    assert {name: len(part) for name, part in splits.items()} == {
        "train": 16,
        "validation": 2,
        "test": 2,
    }
    with pytest.raises(SystemExit, match="Too few rows"):
        hub.complete_splits(datasets.DatasetDict({"train": train.select(range(2))}))
    config = SimpleNamespace(dataset_name="/no/such/folder", dataset_subset="")
    with pytest.raises(SystemExit, match="can't be loaded"):
        hub.load_splits.__wrapped__(config)


@pytest.mark.parametrize("padding_idx, most", [(None, 8), (1, 6)])
def test_a_model_has_an_embedding_for_each_position(padding_idx, most):
    model = torch.nn.Sequential(torch.nn.Embedding(8, 2, padding_idx))
    found = SimpleNamespace(vocab_size=5, max_position_embeddings=8)
    model.config = SimpleNamespace(get_text_config=lambda: found)
    limits.check_limits(model, 5, most, "--max-length")
    with pytest.raises(SystemExit, match=f"at most {most} tokens: lower --max-length"):
        limits.check_limits(model, 5, most + 1, "--max-length")
    with pytest.raises(SystemExit, match="6 tokens, but the model has 5 embeddings"):
        limits.check_limits(model, 6, most, "--max-length")


def test_a_model_that_is_not_found_is_named(tmp_path: Path):
    def fail(name: str):
        raise OSError("no network")

    name = str(tmp_path)
    assert models.load(SimpleNamespace(from_pretrained=str.upper), name) == name.upper()
    with pytest.raises(SystemExit, match=f"--model-name {name} can't be loaded: no network"):
        models.load(SimpleNamespace(from_pretrained=fail), name)


def test_attention_is_causal_without_a_mask_and_depends_on_distances():
    torch.manual_seed(0)
    block, x = rotary.Block(8, 2, 0.0), torch.randn(1, 5, 8)
    angles = torch.arange(5).unsqueeze(1) * torch.tensor([1.0, 0.1])
    later = x.clone()
    later[:, 3:] += 1
    found, other = block(x, angles), block(later, angles)
    torch.testing.assert_close(other[:, :3], found[:, :3])
    assert not torch.allclose(other[:, 3:], found[:, 3:])
    torch.testing.assert_close(block(x, angles + 2), found)


def test_padding_does_not_change_the_vectors_of_tokens():
    torch.manual_seed(0)
    layers, x = rotary.Layers(2, 16, 0.0), torch.randn(1, 5, 16)
    mask = torch.tensor([[True, True, True, False, False]])
    torch.testing.assert_close(layers(x, mask)[:, :3], layers(x[:, :3], mask[:, :3]))
    with pytest.raises(SystemExit, match="--width 12 is not a multiple of 8"):
        rotary.Layers(1, 12, 0.0)


def test_pieces_of_words_have_the_same_number_everywhere():
    text = "unbelievable, ok"
    pieces = tokenizers.split_pieces(text)
    assert [text[start:end] for start, end in pieces] == ["unbeliev", "able", ",", "ok"]
    numbers = tokenizers.number_pieces(text, pieces)
    assert all(tokenizers.END < number < tokenizers.PIECES for number in numbers)
    assert tokenizers.number_pieces("ok", [(0, 2)]) == numbers[-1:]


def test_a_text_is_cut_after_a_number_of_tokens():
    def words(text: str, **settings):
        return {"offset_mapping": [(0, 3), (4, 7), (8, 11)]}

    assert tokenizers.shorten("one two six", 2, words) == "one two"
    assert tokenizers.shorten("one two six", 3, words) == "one two six"


def test_quotation_marks_of_a_tsv_are_text_where_each_line_is_a_row(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text('a\tb\n"x\ty\n')
    assert tables.read_style(str(path)) == {"delimiter": "\t", "quoting": 3}
    path.write_text('a\tb\n"x\ny"\tz\n')
    assert tables.read_style(str(path)) == {"delimiter": "\t", "strict": True}
    assert tables.read_style("rows.csv") == {"strict": True}
    assert [tables.unquote(cell) for cell in ('"a ""b"""', '"a', "a")] == ['a "b"', '"a', "a"]


def test_padding_does_not_count_in_the_mean():
    states = torch.tensor([[[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]]])
    found = models.pool(states, torch.tensor([[True, True, False]]))
    torch.testing.assert_close(found, torch.tensor([[0.6, 0.8]]))


def test_a_turned_photo_is_read_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned by 90 degrees
    Image.new("RGB", (40, 30), "red").save(tmp_path / "a.jpg", exif=exif)
    assert load("images").image_size(tmp_path / "a.jpg") == (30, 40)
    assert load("images").open_image(tmp_path / "a.jpg").size == (30, 40)


def test_squares_are_center_crops() -> None:
    picture = Image.new("RGB", (40, 20), "black")
    picture.paste((255, 255, 255), (6, 0, 34, 20))
    numbers = load("image_squares").to_square(picture, 8)
    assert numbers.shape == (3, 8, 8) and numbers.dtype == torch.float32
    assert (numbers == 1).all(), "the middle of the picture is white"
    assert torch.equal(load("image_bytes").to_square(picture, 8), (255 * numbers).byte())
    scaled = load("scaled_images").to_tensor(picture, 8)
    assert scaled.shape == (3, 8, 8) and scaled[0, 0, 0] < 0.5, "its edges are black"


def test_another_transform_leaves_the_original() -> None:
    from torch.utils.data import ConcatDataset, Subset

    class Data(list):
        transform = "old"

    data = Data([1, 2])
    changed = samples.with_transform(Subset(ConcatDataset([data]), [0]), "new")
    assert changed.dataset.datasets[0].transform == "new" and data.transform == "old"
    with pytest.raises(TypeError, match="has no attribute `transform`"):
        samples.with_transform([1], "new")


def test_layers_follow_the_size_of_images() -> None:
    assert models.choose_widths(8) == [16, 32]
    assert models.choose_widths(256) == [16, 32, 64, 128, 128, 128, 128]


def test_a_loss_among_others_is_that_of_cross_entropy() -> None:
    pytest.importorskip("accelerate")
    rows = torch.randn(4, 3, dtype=torch.float64)
    losses = load("contrast").contrast(rows[:, :1], rows[:, 1:], temperature=0.5)
    first = torch.zeros(4, dtype=torch.long)
    expected = torch.nn.functional.cross_entropy(rows / 0.5, first, reduction="none")
    torch.testing.assert_close(losses, expected)


def test_photos_are_rgb(tmp_path: Path) -> None:
    Image.new("L", (5, 4), 9).save(tmp_path / "a.png")
    assert load("photos").read_image(tmp_path / "a.png").getpixel((0, 0)) == (9, 9, 9)
    with pytest.raises(SystemExit, match=r"b\.png can't be read as an image"):
        load("photos").read_image(tmp_path / "b.png")


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("a, b", ("a", "b")),
        (["a"], ("a",)),
        (" ", ()),
        ("a,,b", None),
        ([1], None),
        ("['a', 'b,c']", ("a", "b,c")),
        ('["a"]', ("a",)),
        ("[]", ()),
        ("['a' 'b']", None),
        ("[" * 5000, None),
        ("{'a'}", None),
    ],
)
def test_labels_in_a_cell(cell: object, names: tuple[str, ...] | None) -> None:
    assert load("cells").split_labels(cell) == names


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1.5", 1.5), (2, 2.0), ("x", None), (None, None), ("nan", None), (1e39, None)],
)
def test_a_number_in_a_cell(cell: object, number: float | None) -> None:
    assert load("cells").parse_number(cell) == number


def test_a_missing_extractor_is_named(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(SystemExit, match=r"The feature extractor of .* can't be loaded"):
        load("extractors").load_extractor(str(tmp_path))


def test_scores_of_classes_are_as_counted_by_hand() -> None:
    labels, predictions = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 1, 1])
    counts = metrics.confusion_matrix(predictions, labels, classes=3)
    assert counts.tolist() == [[1, 1, 0], [0, 2, 0], [0, 0, 0]]
    scores = metrics.classification_scores(counts)
    assert scores["accuracy"] == 3 / 4
    assert scores["f1"] == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert scores["matthews"] == pytest.approx(2 / 12**0.5)


def test_average_precision_shares_ranks() -> None:
    scores, occurs = torch.tensor([3.0, 2.0, 2.0]), torch.tensor([True, False, True])
    found = load("scores").average_precision(scores, occurs)
    assert found == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)


def test_a_louder_sound_has_the_same_spectrogram() -> None:
    pytest.importorskip("soxr")
    sounds = load("sounds")
    sound = torch.randn(1600, generator=torch.Generator().manual_seed(0))
    assert len(sounds.resample(sound, 16000, 8000)) == 800
    quiet, loud = (sounds.normalize(sounds.log_mel(x, 16000, 8)) for x in (sound, 9 * sound))
    assert quiet.shape == (11, 8)
    torch.testing.assert_close(quiet, loud, rtol=0, atol=1e-3)
