"""What projects get from templates/lib, called directly. A section for each of its files."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")
pd = pytest.importorskip("pandas")

TEMPLATES = Path(__file__).parents[1] / "templates"


def load(name: str) -> ModuleType:
    """A file of the library."""
    if str(TEMPLATES) not in sys.path:
        sys.path.append(str(TEMPLATES))
    return importlib.import_module(f"lib.{name}")


# cells


@pytest.mark.parametrize(
    ("cell", "names"),
    [("a, b", ("a", "b")), (["a"], ("a",)), (" ", ()), ("a,,b", None), ([1], None)],
)
def test_labels_in_a_cell(cell: object, names: tuple[str, ...] | None) -> None:
    assert load("cells").split_labels(cell) == names


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1.5", 1.5), (2, 2.0), ("x", None), (None, None), ("nan", None), (1e39, None)],
)
def test_a_number_in_a_cell(cell: object, number: float | None) -> None:
    assert load("cells").parse_number(cell) == number


# columns


def test_columns_become_numbers() -> None:
    columns = load("columns")
    days = pd.Series(["2026-03-14", None, "2026-03-16"], name="day")
    assert columns.is_date(days) and not columns.is_date(pd.Series([1, 2]))
    assert columns.to_numbers(days, "2026-03-14").fillna(-1).tolist() == [0, -1, 2]
    texts = columns.to_texts(pd.Series([1, None], dtype="object"))
    assert texts.fillna("").tolist() == ["1", ""]
    with pytest.raises(SystemExit, match="row 2: size is a number in the training rows"):
        columns.to_numbers(pd.Series(["1", "x"], name="size"), None)


# extractors


def test_a_missing_extractor_is_named(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(SystemExit, match=r"The feature extractor of .* can't be loaded"):
        load("extractors").load_extractor(str(tmp_path))


# metrics


def test_scores_of_classes_are_as_counted_by_hand() -> None:
    metrics = load("metrics")
    labels, predictions = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 1, 1])
    counts = metrics.confusion_matrix(predictions, labels, classes=3)
    assert counts.tolist() == [[1, 1, 0], [0, 2, 0], [0, 0, 0]]
    scores = metrics.classification_scores(counts)
    assert scores["accuracy"] == 3 / 4
    assert scores["f1"] == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert scores["matthews"] == pytest.approx(2 / 12**0.5)


# scores


def test_average_precision_shares_ranks() -> None:
    scores, occurs = torch.tensor([3.0, 2.0, 2.0]), torch.tensor([True, False, True])
    found = load("scores").average_precision(scores, occurs)
    assert found == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)


# sounds


def test_a_louder_sound_has_the_same_spectrogram() -> None:
    pytest.importorskip("soxr")
    sounds = load("sounds")
    sound = torch.randn(1600, generator=torch.Generator().manual_seed(0))
    assert len(sounds.resample(sound, 16000, 8000)) == 800
    quiet, loud = (sounds.normalize(sounds.log_mel(x, 16000, 8)) for x in (sound, 9 * sound))
    assert quiet.shape == (11, 8)
    torch.testing.assert_close(quiet, loud, rtol=0, atol=1e-3)


# standardize


def test_a_constant_column_is_not_divided_by_zero() -> None:
    rows = torch.tensor([[1.0, 5.0], [3.0, 5.0]])
    scaled = load("standardize").Standardize(rows)(rows)
    torch.testing.assert_close(scaled, torch.tensor([[-(0.5**0.5), 0.0], [0.5**0.5, 0.0]]))
