"""Skeletons of `tests/new.py` render and train: what a contributor writes, and how many files."""

from pathlib import Path

import pytest

import new
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.render.check import check_templates
from scaffold.render.project import render_project
from support.files import read_files, write_files
from support.paths import TEMPLATES
from support.training import run_python, succeed

TRIAL = ("--epochs", "1", "--limit-batches", "2")


def write(arguments: list[str], templates: Path) -> list[str]:
    """What `python tests/new.py` changes and adds, by its path below the templates."""
    before = read_files(templates)
    new.main([*arguments, "--templates", str(templates)])
    return [name for name, text in read_files(templates).items() if before.get(name) != text]


def render(templates: Path, **given: object) -> dict[str, str]:
    load_catalog.cache_clear()
    catalog = load_catalog(templates)
    check_templates(catalog)
    answers = {key.replace("__", "."): value for key, value in given.items()}
    return render_project(catalog, resolve(catalog, {"project.name": "trial", **answers}))


def trained(files: dict[str, str], folder: Path) -> str:
    """What training the project for two steps prints."""
    write_files(folder, files)
    result = succeed(run_python(folder, ["train.py", *TRIAL]))
    return result.stdout


@pytest.mark.train
def test_a_feature_is_two_files_and_a_test(
    templates: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = write(["feature", "shout"], templates)
    assert written == [
        "features/shout/feature.toml",
        "features/shout/tests/test_features.py",
        "features/shout/train.py",
    ]
    printed = capsys.readouterr().out
    assert all(f"templates/{path}: " in printed for path in written)
    files = render(templates, features__shout__enabled=True)
    assert "shout" not in render(templates)["train.py"]
    write_files(tmp_path, files)
    result = run_python(tmp_path, ["-m", "pytest", "-q", "tests/test_features.py", "-k", "shout"])
    assert "1 passed" in result.stdout, result.stdout
    # of another length, as Python may keep what it compiled within the same second
    (tmp_path / "train.py").write_text(files["train.py"].replace("every == 0", "every == 10"))
    result = run_python(tmp_path, ["-m", "pytest", "-q", "tests/test_features.py", "-k", "shout"])
    assert "1 failed" in result.stdout, result.stdout


@pytest.mark.train
def test_a_task_is_one_folder(
    templates: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = write(["task", "mine"], templates)
    assert all(path.startswith("tasks/mine/") for path in changed)
    printed = capsys.readouterr().out
    assert all(f"templates/{path}: " in printed for path in changed)
    assert 5 <= len(changed) <= 12
    files = render(templates, project__task="mine")
    assert "done | test_loss" in trained(files, tmp_path)
    assert files["train.py"] == render(templates, project__task="own")["train.py"]


@pytest.mark.train
def test_an_image_format_is_one_folder_and_one_entry(templates: Path, tmp_path: Path) -> None:
    """What else changes are conditions, which the script extends."""
    before = {path: path.read_text().splitlines() for path in templates.rglob("*.py")}
    changed = write(["dataset", "arrays"], templates)
    folder = "tasks/image_classification"
    own = {f"{folder}/arrays/{name}" for name in ("data.py", "evaluate.py", "tests.py")}
    assert {f"{folder}/task.toml", *own} <= set(changed)
    for path in set(changed) - {f"{folder}/task.toml", *own}:
        rows = (templates / path).read_text().splitlines()
        pairs = list(zip(before[templates / path], rows, strict=True))
        assert all(old == new or new.lstrip().startswith("#: ") for old, new in pairs), path
        several = [new for old, new in pairs if old != new]
        assert several and all("image_folder|arrays|" in row for row in several), path
    make_images(tmp_path / "images")
    chosen = {"image_classification__dataset": "arrays", "image_classification__image_size": 16}
    files = render(templates, **chosen, image_classification__path=str(tmp_path / "images"))
    like = {**chosen, "image_classification__dataset": "image_folder"}
    path = str(tmp_path / "images")
    expected = render(templates, **like, image_classification__path=path)
    for name in ("data.py", "model.py", "predict.py", "tests/test_features.py"):
        assert files[name] == expected[name], name
    assert "done | test_loss" in trained(files, tmp_path / "project")


@pytest.mark.every_run
@pytest.mark.parametrize(
    ("task", "like"),
    [
        pytest.param("tabular_classification", "csv", marks=pytest.mark.sweep),
        ("object_detection", "coco"),
    ],
)
def test_a_format_brings_its_lines_from_where_tasks_share_them(
    task: str, like: str, templates: Path
) -> None:
    """Also those in other files; the other task that shares them has none of it."""
    others = render(templates, project__task="tabular_regression")
    write(["dataset", "mine", "--task", task, "--like", like], templates)
    chosen = {
        "project__task": task,
        f"{task}__dataset": "mine",
        "features__evaluate__enabled": True,
    }
    mine = render(templates, **chosen)
    expected = render(templates, **{**chosen, f"{task}__dataset": like})
    code = {name for name in expected if name.endswith(".py")}
    assert code == {name for name in mine if name.endswith(".py")}
    for name in code:  # their order may be another one
        assert sorted(mine[name].splitlines()) == sorted(expected[name].splitlines()), name
    assert render(templates, project__task="tabular_regression") == others


def make_images(folder: Path) -> None:
    """Two classes of 80 small images each, dark and bright."""
    image = pytest.importorskip("PIL.Image")
    for name, gray in (("dark", 40), ("bright", 200)):
        (folder / name).mkdir(parents=True)
        for number in range(80):
            image.new("L", (16, 16), gray + number % 20).save(folder / name / f"{number}.png")


def test_a_format_says_which_files_to_edit(
    templates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = write(["dataset", "arrays"], templates)
    printed = capsys.readouterr().out
    edit, rest = printed.split("These hold what several formats share")
    folder = "image_classification"
    named = [path for path in changed if path in edit]
    assert named == [path for path in changed if "/arrays/" in path or path.endswith("task.toml")]
    assert all(path in printed for path in changed)
    assert f"{folder}/arrays/data.py: slot build_datasets (Images, build_datasets, read_" in edit
    assert f"{folder}/arrays/evaluate.py: replace paths\n" in edit
    assert "its settings: path, val_share, test_share, image_size" in edit
    assert "lib.images.read_image(path, transform): An image" in rest
    assert "lib.coco." not in rest, "other tasks use it"
    manifest = (templates / "tasks/image_classification/task.toml").read_text()
    assert 'like = "image_folder"\nhelp' in manifest
    assert 'per class"\n\n[options' in manifest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["feature", "ema"], "there is a feature 'ema' already"),
        (["task", "My-Task"], "use lower case letters"),
        (["dataset", "digits"], "already has a dataset 'digits'"),
        (["dataset", "arrays", "--like", "nothing"], "has no dataset 'nothing': --like is one of"),
        (["dataset", "arrays", "--task", "own"], "has no dataset 'image_folder': .* none"),
        (["dataset", "arrays", "--task", "ohne"], "there is no task 'ohne'; there are: audio"),
    ],
)
def test_what_can_not_be_made_is_said(arguments: list[str], message: str, templates: Path) -> None:
    with pytest.raises(SystemExit, match=message):
        new.main([*arguments, "--templates", str(templates)])


def test_the_readme_names_what_exists() -> None:
    """The worked examples of the README."""
    text = (TEMPLATES / "README.md").read_text()
    for kind in ("feature", "task", "dataset"):
        assert f"python tests/new.py {kind} " in text
