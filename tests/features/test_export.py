"""export.py writes what runs elsewhere, and computes the same there."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from support.combinations import in_turns
from support.files import write_files
from support.inputs import make_table, write_table, write_texts
from support.paths import TORCHVISION
from support.rendering import about, render
from support.split import MAKE_PRETRAINED
from support.training import fail, last_metrics, only_in_sweep, run, said, start

EXPORT: dict[str, Value] = {"features.export.enabled": True}
BRIEF = ["--epochs", "1", "--limit-batches", "4", "--batch-size", "16"]
FORMATS = {"onnx", "torch", "safetensors"}


def train(folder: Path, given: dict[str, Value], *flags: str) -> Path:
    """A project with a run."""
    project = write_files(folder, render({**EXPORT, **given}))
    run(project, "train.py", *flags)
    return project


def export(project: Path, format: str, *flags: str, **environment: str) -> str:
    return run(project, "export.py", "--format", format, *flags, **environment)


def formats(given: dict[str, Value]) -> set[str]:
    """Those that the command of a project offers."""
    text = render({**EXPORT, **given})["export.py"].partition("FORMATS = {")[2].partition("}")[0]
    return {line.split('"')[1] for line in text.splitlines() if ":" in line}


TASKS = list(load_catalog().tasks)


@pytest.mark.parametrize(
    "tasks",
    [pytest.param(TASKS[::5], id="some"), pytest.param(TASKS, id="all", marks=pytest.mark.sweep)],
)
def test_a_project_offers_the_formats_that_go_with_its_model(tasks: list[str]) -> None:
    own = {"transformers"}
    for task in {*tasks, "text_classification"}:
        more = own if task == "text_classification" else set()
        assert formats({"project.task": task}) == FORMATS | more, task
    pretrained = {"project.task": "language_model", "language_model.model": "pretrained"}
    assert formats(pretrained) == FORMATS | own
    assert formats({"features.export.quantization": "int8"}) == FORMATS | {"int8"}


def test_export_is_short() -> None:
    assert len(render(EXPORT)["export.py"].splitlines()) <= 154


# --- trained ------------------------------------------------------------------------------------

PREPARE = """
import torch
from data import build_loaders
from train import Config
images, labels = build_loaders(Config())[2].dataset[:]
torch.save((images, labels), "test.pt")
"""
# without the project: where the export is, and PyTorch or onnxruntime
USE = {
    "onnx": """
import onnxruntime, torch
session = onnxruntime.InferenceSession("model.onnx")
run = lambda images: torch.from_numpy(session.run(None, {"images": images.numpy()})[0])
""",
    "torch": """
import torch
run = torch.export.load("model.pt2").module()
""",
    "safetensors": """
from load import load
import torch
run = load()
""",
}
COUNT = """
images, labels = torch.load("test.pt")
for size in (1, 7, len(images)):
    batches = [run(part) for part in images.split(size)]
    print(float((torch.cat(batches).argmax(dim=1) == labels).sum()) / len(labels))
"""


@pytest.mark.train
@pytest.mark.every_run
def test_exports_give_the_metric_of_training_elsewhere(tmp_path: Path) -> None:
    """In another folder, with batches of any size; and a folder that exists is left alone."""
    project = train(tmp_path / "project", {}, "--epochs", "1")
    accuracy = last_metrics(project)["test_accuracy"]
    run(project, "-c", PREPARE)
    for format, use in USE.items():
        folder = tmp_path / format
        printed = export(project, format, "--output", str(folder))
        assert printed.startswith(f"{folder} has the model as {format}")
        (folder / "test.pt").write_bytes((project / "test.pt").read_bytes())
        assert run(folder, "-c", use + COUNT).split() == [str(accuracy)] * 3
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    calls = [["--output", str(folder)], ["--run", "runs/none"]]
    exists, absent = said(project, "export.py", *(["--format", "onnx", *call] for call in calls))
    assert exists == f"{folder} exists: name a new folder with --output."
    assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert "runs/none" in absent and not (project / "runs/none").exists()
    assert "choose from" in fail(project, "export.py", "--format", "transformers")


@pytest.mark.train
@pytest.mark.parametrize(
    "task", ["tabular_classification", pytest.param("text_classification", marks=pytest.mark.sweep)]
)
def test_a_model_of_your_data_exports(task: str, tmp_path: Path) -> None:
    """Elsewhere, where your data is not. The settings of such a run also describe the files."""
    if task == "text_classification":
        write_texts(tmp_path / "rows.csv", 100)
        columns = {"text_columns": "first,second", "label_column": "kind"}
    else:
        write_table(make_table(), tmp_path / "rows.csv")
        columns = {"target": "kind"}
    given = about(task, dataset="csv", path=str(tmp_path / "rows.csv"), **columns)
    project = train(tmp_path / "project", given, *BRIEF)
    with (project / "model.py").open("a") as file:
        file.write("\n\nimport itertools  # which has no file\n")
    folder = tmp_path / "safetensors"
    export(project, "safetensors", "--output", str(folder))
    (tmp_path / "rows.csv").unlink()
    assert run(folder, "-c", "from load import load; print(load().training)") == "False\n"


@only_in_sweep
def test_a_run_from_before_a_setting_exports(tmp_path: Path) -> None:
    """It has the default, as in predict.py; what is exported says so."""
    project = train(tmp_path, {"project.task": "autoencoder"}, *BRIEF)
    path = project / "runs/latest/config.json"
    record = json.loads(path.read_text())
    default = record["settings"].pop("latent")
    path.write_text(json.dumps(record))
    export(project, "safetensors")
    written = json.loads((project / "runs/latest/export/safetensors/config.json").read_text())
    assert written["settings"]["latent"] == default


FROM_FOLDER = """
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
model = AutoModelForCausalLM.from_pretrained(".")
tokens = AutoTokenizer.from_pretrained(".")("import torch", return_tensors="pt")
texts = model.generate(**tokens, min_new_tokens=3, max_new_tokens=3, do_sample=False)
print(texts.shape[1] - tokens.input_ids.shape[1])
"""


@only_in_sweep
@pytest.mark.parametrize("name", ["gpt2", "llama", "qwen3"])
def test_a_pretrained_language_model_exports(name: str, tmp_path: Path) -> None:
    """Also the folder for from_pretrained, which generates as any other."""
    given = about("language_model", model="pretrained", model_name=name, context=48, **EXPORT)
    project = write_files(tmp_path, render(given))
    run(project, "-c", MAKE_PRETRAINED)
    run(project, "train.py", *BRIEF)
    for format in sorted(formats(given)):
        export(project, format)
    folder = project / "runs/latest/export/transformers"
    assert run(folder, "-c", FROM_FOLDER) == "3\n"


@only_in_sweep
@pytest.mark.parametrize("task", ["image_classification", "seq2seq", "text_classification"])
def test_weights_of_8_bits_have_their_metrics_measured(task: str, tmp_path: Path) -> None:
    """torchao is installed for this test alone: where it is, Transformers imports it each time."""
    packages = tmp_path / "packages"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--target", packages, "torchao>=0.18"], check=True)
    given: dict[str, Value] = {"project.task": task, "features.export.quantization": "int8"}
    project = train(tmp_path / "project", given, *BRIEF)
    paths = os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])])
    printed = export(project, "int8", PYTHONPATH=os.pathsep.join([str(TORCHVISION), paths]))
    before, after, written = printed.splitlines()
    assert before.startswith("weights of 32 bits | test_loss ")
    assert after.startswith("weights of 8 bits | test_loss ")
    last = last_metrics(project)
    assert f"test_loss {last['test_loss']:.5g}" in before
    assert written.startswith("runs/latest/export/int8 has the model as int8")


# --- elsewhere, without PyTorch -------------------------------------------------------------------

# torch, and what would import it, can't be imported
WITHOUT_TORCH = """
import runpy, sys
for name in ("torch", "accelerate", "transformers", "torchvision", "safetensors", "onnx"):
    sys.modules[name] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
SETTINGS = ["--epochs", "2", "--batch-size", "4", "--num-workers", "0"]


def draw(path: Path, level: int, size: tuple[int, int] = (20, 30), mode: str = "RGB") -> Path:
    """A picture of one color."""
    image = pytest.importorskip("PIL.Image")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.new(mode, size, level if mode == "L" else (level, 20, 90)).save(path)
    return path


@pytest.mark.train
@pytest.mark.parametrize("labels", in_turns(["one", "folder", "many"], 3))
def test_a_model_of_images_is_used_without_torch(labels: str, tmp_path: Path) -> None:
    """run.py says what predict.py says; names of classes, crop, size and range are in the model."""
    shades = {"dark": range(0, 60, 4), "light": range(180, 240, 4)}
    drawn = {
        draw(tmp_path / f"project/d/{name}/{level}.png", level): name
        for name, levels in shades.items()
        for level in levels
    }
    rows = [f"{path.relative_to(tmp_path / 'project')},{name}" for path, name in drawn.items()]
    write_files(tmp_path / "project", {"images.csv": "\n".join(["image,label", *rows, ""])})
    options = {"dataset": "image_folder", "path": "d"} if labels == "folder" else {"dataset": "csv"}
    options |= {} if labels == "folder" else {"labels": labels}
    options |= {"labels_column": "label"} if labels == "many" else {}
    given = about("image_classification", **options, image_size=16)
    project = train(tmp_path / "project", given, *SETTINGS)
    export(project, "onnx", "--output", str(tmp_path / "out"))
    shown = [
        draw(tmp_path / "new/a.png", 10),
        draw(tmp_path / "new/b.jpg", 230, (300, 200)),
        draw(tmp_path / "new/c.png", 200, mode="L"),
    ]
    predicted = run(project, "predict.py", *shown)
    column = "labels" if labels == "many" else "label"
    names = [row[column] for row in csv.DictReader(predicted.splitlines())]
    used = run(tmp_path / "out", "-c", WITHOUT_TORCH, "run.py", *shown, real=True)
    pairs = zip(shown, names, strict=True)
    expected = [f"{path} {name}".replace(",", " ").strip() for path, name in pairs]
    assert [line.strip() for line in used.splitlines()] == expected
    read = start(tmp_path / "out", ["-c", FACTS])
    facts = {name: json.loads(text) for name, text in json.loads(read.stdout).items()}
    assert facts["classes"] == ["dark", "light"] and facts["crop"] == "center"
    assert facts["mode"] == "RGB" and facts["size"] == 16 and facts["range"] == [0, 255]


FACTS = """
import json, onnxruntime
session = onnxruntime.InferenceSession("model.onnx")
print(json.dumps(session.get_modelmeta().custom_metadata_map))
"""
