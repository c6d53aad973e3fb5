"""Self-supervised learning: negatives of all processes, probes, and a user's folder of images."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.bad_files import refuse_flags
from support.combinations import in_turns
from support.inputs import make_image_project, paint
from support.rendering import of_task, write_project
from support.scores import run_cases
from support.training import (
    ask,
    call,
    count_passed,
    last_metrics,
    last_tested,
    read_rows,
    run,
    run_tests,
    succeed,
)

pytestmark = pytest.mark.train

TASK = "self_supervised"
FOLDER = of_task(TASK, dataset="image_folder", path="marks", image_size=16)
FOLDER["training.num_workers"] = 0
MAE: dict[str, Value] = {f"{TASK}.method": "mae"}
LABELLED: dict[str, Value] = {f"{TASK}.probe": "classes", f"{TASK}.known": 12}
make_project = partial(make_image_project, TASK)
BRIEF = ["--epochs", "1", "--batch-size", "4"]


# --- SimCLR -------------------------------------------------------------------------------------

GRADIENTS = """
class Known(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(12, 4).double()

    def forward(self, images, project):
        assert project
        return 2 * nn.functional.normalize(self.layer(images.flatten(1)), dim=1)

class Alone:
    num_processes, process_index = 1, 0
    gather = staticmethod(lambda values: values)
    reduce = staticmethod(lambda values, how: values)

for size in cases:
    whole = torch.randn(size * count, 2, 3, 2, 2, generator=draw, dtype=torch.float64)
    losses, gradients = {}, {}
    for name in ("one", "all"):
        network = Known()
        if name == "one":  # a single process with the whole batch
            loss = train.compute_loss(train.project(network, whole), Alone()).mean()
        else:
            network, rows = accelerator.prepare(network), slice(number * size, (number + 1) * size)
            loss = train.compute_loss(train.project(network, whole[rows]), accelerator).mean()
        accelerator.backward(loss)
        losses[name] = accelerator.reduce(loss.detach(), "mean")
        gradients[name] = torch.cat([weight.grad.flatten() for weight in network.parameters()])
    assert gradients["one"].abs().max() > 1e-3
    worst = max(worst, float((gradients["all"] - gradients["one"]).abs().max()))
    worst = max(worst, float((losses["all"] - losses["one"]).abs()))
"""
SIZES = [1, 4, 7, 16]  # of batches on each process


@pytest.mark.parametrize("processes", [2, pytest.param(3, marks=pytest.mark.sweep)])
def test_loss_and_gradients_are_those_of_one_process_with_the_whole_batch(
    processes: int, tmp_path: Path, proven
) -> None:
    project = write_project(tmp_path, TASK)
    assert run_cases(project, GRADIENTS, SIZES, processes) < 1e-12
    proven("batches of views with the loss and the gradients of one process", len(SIZES))


# --- probes -------------------------------------------------------------------------------------

SCORES = """
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

class Known(nn.Module):
    # the features of an image are those of this image alone
    def forward(self, images, project=False):
        features = images.flatten(1)
        return nn.functional.normalize(features, dim=1) if project else features

for size, batch_size, classes in cases:
    images = torch.randn(size, 1, 3, 4, generator=draw)
    labels = torch.randint(0, classes, (size,), generator=draw)
    images[:, 0, 0, 0] += labels  # so that there is something to find
    images[:, 0, 1, 1] = 7  # a feature that is always the same
    known = torch.rand(size, generator=draw) < 0.6
    known[:6], known[-1], labels[0], labels[1] = True, False, 0, 1
    samples = [
        (image, torch.stack([image, image]), int(label), bool(is_known))
        for image, label, is_known in zip(images, labels, known)
    ]
    loader = accelerator.prepare(DataLoader(samples, batch_size))
    metrics = train.evaluate(accelerator, Known(), loader, "val")
    x, y, known = images.flatten(1).double().numpy(), labels.numpy(), known.numpy()
    theirs = {
        "knn": KNeighborsClassifier(5, metric="cosine"),
        "linear": make_pipeline(StandardScaler(), RidgeClassifier(alpha=1.0)),
    }
    for name, probe in theirs.items():
        probe.fit(x[known], y[known])
        expected = float((probe.predict(x[~known]) == y[~known]).mean())
        found = metrics[f"val_{name}_accuracy"]
        assert abs(found - expected) < 1e-12, (size, batch_size, name, found, expected)
"""
SETS = [(7, 3, 2), (40, 7, 2), (41, 16, 3), (97, 5, 10), (300, 64, 10), (300, 300, 4)]


@pytest.mark.parametrize("processes", in_turns([2, 1, 3], 3))
def test_accuracies_are_those_of_scikit_learn(processes: int, tmp_path: Path, proven) -> None:
    """Of sets that no number of processes divides, with the classes of some images."""
    project = write_project(tmp_path, TASK)
    run_cases(project, SCORES, SETS, processes)
    proven("probes equal to scikit-learn's", 2 * len(SETS))


UNTRAINED = """
import torch
from probe import find_right
images, _, labels, known = map(torch.cat, zip(*data.build_loaders(config)[2], strict=True))
def measure(features):
    found = find_right(features, labels, known)
    return {name: float(right.double().mean()) for name, right in found.items()}

pixels = measure(images.flatten(1))
found = []
for seed in range(3):
    torch.manual_seed(seed)
    with torch.no_grad():
        found.append(measure(model.build_model(config).eval()(images)))
untrained = {name: sum(one[name] for one in found) / 3 for name in pixels}
"""


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("given", "most", "least"),
    [
        ({}, {"knn": 0.85, "linear": 0.87}, {"knn": 0.87, "linear": 0.9}),
        (MAE, {"knn": 0.4}, {"knn": 0.75}),
    ],
    ids=["simclr", "mae"],
)
def test_training_improves_the_features(
    given: dict[str, Value], most: dict[str, float], least: dict[str, float], tmp_path: Path
) -> None:
    """The page says what pixels and an encoder with new weights reach beside a trained one."""
    project = write_project(tmp_path, TASK, **given)
    pixels, untrained = ask(project, UNTRAINED, "[pixels, untrained]")
    run(project, "train.py", timeout=600)
    last = last_metrics(project)
    assert max(pixels.values()) < 0.87
    for name, bound in least.items():
        assert untrained[name] < most[name] < last[f"test_{name}_accuracy"]
        assert last[f"test_{name}_accuracy"] >= bound


# --- a user's images ----------------------------------------------------------------------------


def test_a_users_folder(tmp_path: Path) -> None:
    """It trains, predict.py writes features, and what is wrong is named."""
    given = {**FOLDER, **MAE, **LABELLED, f"{TASK}.vit_width": 32}
    project = make_project(tmp_path, given)
    run(project, "train.py", *BRIEF)
    assert list(project.glob("runs/latest/reconstructions_*.png"))
    assert 0 <= last_tested(project)["test_linear_accuracy"] <= 1
    rows = read_rows(run(project, "predict.py", "marks/red"))
    assert len(rows) == 20 and rows[0]["image"] == "marks/red/0.png"
    assert len({row["feature_31"] for row in rows}) > 1 and len(rows[0]) == 1 + 32
    shutil.copytree(project / "marks", project / "new")
    paint(project / "new/test", ["green"], 1)
    expected = {
        ("--path", "new"): "new/test/green/0.png has a class without training images: green.",
        ("--path", "marks/red"): "All training images are in the folder marks/red: use two, or",
        ("--patch-size", "5"): "--patch-size 5 does not divide 16 pixels into several patches.",
        ("--patch-size", "16"): "--patch-size 16 does not divide 16 pixels",
        ("--width", "20"): "--width 20 is not a multiple of 8, for the attention heads.",
    }
    refuse_flags(project, expected)


FINE_TUNE = """
from safetensors.torch import load_file
classifier = model.build_model(config)
weights = load_file("../features/runs/latest/model.safetensors")
start = "encoder.network."
found = {name.removeprefix(start): w for name, w in weights.items() if name.startswith(start)}
classifier.backbone.load_state_dict(found)
"""


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("library", "name"), [("timm", "test_resnet"), ("torchvision", "shufflenet_v2_x0_5")]
)
def test_a_classifier_starts_from_the_encoder(library: str, name: str, tmp_path: Path) -> None:
    """With the lines of the page, which need the same architecture in both projects."""
    given: dict[str, Value] = {**FOLDER, f"{TASK}.encoder": library, f"{TASK}.backbone": name}
    run(make_project(tmp_path / "features", given), "train.py", *BRIEF)
    architecture = {"model": library, "backbone": name}
    other = write_project(tmp_path / "classes", "image_classification", **architecture)
    succeed(call(other, FINE_TUNE))


@pytest.mark.sweep
@pytest.mark.parametrize(
    "given",
    [
        MAE,
        {**MAE, f"{TASK}.probe": "none"},
        {f"{TASK}.probe": "none"},
        {**FOLDER, **MAE, "features.augmentation.enabled": True},
        {**FOLDER, **LABELLED},
        {**FOLDER, f"{TASK}.views": "turned"},
        {f"{TASK}.encoder": "timm", f"{TASK}.backbone": "test_resnet"},
        {f"{TASK}.encoder": "torchvision", f"{TASK}.backbone": "regnet_x_400mf"},
    ],
    ids=str,
)
def test_the_choices_pass_the_tests_of_their_projects(
    given: dict[str, Value], tmp_path: Path
) -> None:
    assert count_passed(run_tests(make_project(tmp_path, given))) >= 23
