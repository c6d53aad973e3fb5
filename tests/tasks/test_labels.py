"""Several labels a sample, or a number, for texts and images: files, metrics, predictions."""

from pathlib import Path

import pytest
from PIL import Image

from scaffold.answers.data import look_at_data
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.errors import AnswerError
from support.adapters import MAKE_MODELS, make
from support.inputs import write_rows
from support.rendering import write_project
from support.scores import run_cases
from support.training import count_passed, last_metrics, only_in_sweep, run, run_tests, said

TEXTS, IMAGES = "text_classification", "image_classification"
MADE = {TEXTS: "reviews", IMAGES: "scenes"}  # what needs no file


# --- answers ------------------------------------------------------------------------------------

ONE_LABEL = ["balanced_sampling", "distillation", "label_smoothing", "predictions", "torchmetrics"]


@pytest.mark.parametrize("labels", ["many", "number"])
@pytest.mark.parametrize("task", MADE)
def test_features_of_one_label_say_what_to_do(task: str, labels: str) -> None:
    given = {"project.task": task, f"{task}.dataset": "csv", f"{task}.labels": labels}
    for name in [*ONE_LABEL, *(["mixing"] if task == IMAGES else [])]:
        feature = load_catalog().features[name]
        more = dict.fromkeys(map("features.{}.enabled".format, feature.requires), True)
        with pytest.raises(AnswerError, match=f"turn it off, or set {task}.labels=one"):
            resolve(load_catalog(), {**given, **more, feature.switch_key: feature.example})
    with pytest.raises(AnswerError, match="has an effect only with"):
        resolve(load_catalog(), {"project.task": task, f"{task}.labels": labels})
    made = {**given, f"{task}.dataset": MADE[task]}
    with pytest.raises(AnswerError, match="several"):
        resolve(load_catalog(), {**made, f"{task}.labels": "one"})


def test_a_file_is_looked_at_when_it_is_named(tmp_path: Path) -> None:
    path, catalog = tmp_path / "texts.csv", load_catalog()
    found = {}
    for labels in ("many", "number"):
        rows = [("a", "b, c", "1"), ("a", "", "x")] * 6
        write_rows(path, [("text", "labels", "number"), *rows])
        settings = {"dataset": "csv", "path": "texts.csv", "labels": labels, "text_columns": "text"}
        given = {f"{TEXTS}.{key}": value for key, value in settings.items()}
        answers = resolve(catalog, {"project.task": TEXTS, **given})
        found[labels] = str(look_at_data(catalog, answers, [tmp_path])[f"{TEXTS}.path"])
    assert "2 labels in labels: b (6), c (6)" in found["many"] and "problem" not in found["many"]
    assert "row 2 has the number 'x', which is not a number" in found["number"]


@pytest.mark.train
@pytest.mark.parametrize("task", [IMAGES, pytest.param(TEXTS, marks=pytest.mark.sweep)])
def test_numbers_that_32_bits_round_are_refused(task: str, tmp_path: Path) -> None:
    first, names = {
        IMAGES: ("image", {"table": "rows.csv"}),
        TEXTS: ("text", {"path": "rows.csv", "text_columns": "text"}),
    }[task]
    for number in range(12):
        Image.new("RGB", (9, 8)).save(tmp_path / f"{number}.png")
    rows = [(f"{number}.png", str(1.7e9 + number)) for number in range(12)]
    write_rows(tmp_path / "rows.csv", [(first, "number"), *rows])
    folder = write_project(tmp_path, task, dataset="csv", labels="number", **names)
    [message] = said(folder, "train.py", [])
    assert "numbers that 32 bits can't tell apart, such as 17000000" in message


# --- metrics ------------------------------------------------------------------------------------

EXACT = """
import numpy as np
from torch.utils.data import Subset
from sklearn.metrics import average_precision_score, f1_score, log_loss
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
import data, model

torch.manual_seed(0)
built = model.build_model(config)
whole = data.build_loaders(config)[2]
for parameter in built.parameters():
    torch.nn.init.normal_(parameter, std=0.3)
prepared = accelerator.prepare_model(built, evaluation_mode=True)
for size, batch_size in cases:
    samples = Subset(whole.dataset, range(size))
    loader = DataLoader(samples, batch_size, collate_fn=whole.collate_fn)
    found = train.evaluate(accelerator, prepared, accelerator.prepare(loader), "val")
    outputs, targets = [], []
    built.eval()
    with torch.no_grad():
        for batch in DataLoader(samples, 61, collate_fn=whole.collate_fn):
            if isinstance(batch, list):
                inputs, target = batch
                output = built(inputs)
            else:
                batch = dict(batch)
                target = batch.pop("labels")
                output = built(**batch).logits
                if labels == "number":
                    output = model.Scale(built.config).restore(output)
            outputs.append(output)
            targets.append(target)
    output, target = torch.cat(outputs).double().numpy(), torch.cat(targets).double().numpy()
    expected = {}
    if labels == "many":
        there = target.any(axis=0)
        settings = {"average": "macro", "zero_division": np.nan}
        guess = (output > 0).astype(int)
        if there.any():
            expected["f1"] = f1_score(target, guess, **settings)
            expected["average_precision"] = average_precision_score(
                target[:, there], output[:, there], average="macro"
            )
        chance = 1 / (1 + np.exp(-output))
        pairs = [(t, np.stack([1 - c, c], 1)) for t, c in zip(target.T, chance.T)]
        expected["loss"] = np.mean([log_loss(t, c, labels=[0, 1]) for t, c in pairs])
    else:
        expected["rmse"] = root_mean_squared_error(target, output)
        expected["mae"] = mean_absolute_error(target, output)
        if size > 1:
            expected["r2"] = r2_score(target, output)
    for name, value in expected.items():
        close = abs(found[f"val_{name}"] - value) <= 2e-5 * max(1, abs(value))
        assert close, (size, name, value, found)
"""


@pytest.mark.train
@pytest.mark.parametrize(
    ("task", "processes"),
    [
        pytest.param(
            task, processes, marks=[pytest.mark.sweep] * ((task, processes) != (IMAGES, 2))
        )
        for task in MADE
        for processes in (1, 2, 3)
    ],
)
@pytest.mark.parametrize("labels", ["many", "number"])
def test_metrics_are_those_of_scikit_learn(
    task: str, labels: str, processes: int, tmp_path: Path, proven
) -> None:
    """On the whole set, for any number of samples, batch size and processes."""
    write_project(tmp_path, task, dataset=MADE[task], labels=labels)
    cases = [(1, 4), (7, 2), (50, 8), (61, 61)]
    run_cases(tmp_path, f"labels = {labels!r}\n{EXACT}", cases, processes)
    proven("sets of samples with labels or numbers, scored as by scikit-learn", 4)


# --- training -----------------------------------------------------------------------------------

GOALS = {
    (TEXTS, "many"): ("test_average_precision", 0.9, 1),
    (TEXTS, "number"): ("test_rmse", 0.5, -1),
    (IMAGES, "many"): ("test_average_precision", 0.97, 1),
    (IMAGES, "number"): ("test_rmse", 2.0, -1),
}


@only_in_sweep
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(("task", "labels"), GOALS)
def test_made_data_are_learned(
    task: str, labels: str, processes: int, tmp_path: Path, proven
) -> None:
    """To the result that the page of the task states, with as many samples per step on 1 and 2."""
    folder = write_project(tmp_path, task, dataset=MADE[task], labels=labels)
    answers = resolve(load_catalog(), {"project.task": task, f"{task}.dataset": MADE[task]})
    batch_size = int(answers["training.batch_size"]) // processes
    script = ["train.py", "--batch-size", str(batch_size)]
    run(folder, *script, processes=processes, timeout=1200)
    name, limit, sign = GOALS[task, labels]
    assert sign * last_metrics(folder)[name] >= sign * limit
    proven("stated results with several labels or numbers", 1)


@only_in_sweep
@pytest.mark.parametrize(("task", "labels"), GOALS)
def test_a_project_proves_itself(task: str, labels: str, tmp_path: Path, proven) -> None:
    on = ("app", "evaluate", "export", "predict", "share")
    features = {f"features.{name}.enabled": True for name in on}
    write_project(tmp_path, task, dataset=MADE[task], labels=labels, **features)
    proven("tests of projects with several labels or numbers", count_passed(run_tests(tmp_path)))


# --- fill-in-the-middle -------------------------------------------------------------------------

TEXT = "\n\n".join(f"def f{number}(x):\n    return x + {number}" for number in range(400))
LM = "language_model"


@only_in_sweep
@pytest.mark.parametrize("order", ["psm", "spm"])
def test_a_project_proves_that_middles_come_last(order: str, tmp_path: Path, proven) -> None:
    """Also that a resumed run and two processes rearrange the same blocks."""
    (tmp_path / "texts").write_text(TEXT)
    folder = write_project(tmp_path, LM, dataset="text", fill_in_middle=order)
    proven("tests of projects that fill in a middle", count_passed(run_tests(folder)))


@only_in_sweep
def test_a_pretrained_model_gets_tokens_for_a_middle(tmp_path: Path) -> None:
    (tmp_path / "texts").write_text(TEXT)
    given = {"dataset": "text", "model": "pretrained", "model_name": "gpt2"}
    folder = write_project(tmp_path, LM, fill_in_middle="spm", **given)
    make(MAKE_MODELS, folder, "gpt2")
    run(folder, "train.py", "--epochs", "1", "--max-steps", "5", processes=2)
    around = "def f(x):<middle>return x"
    result = run(folder, "predict.py", "--length", "4", around)
    assert result.startswith("def f(x):") and result.rstrip().endswith("return x")
