"""Writes the skeleton of a task, a feature or a dataset, which renders and trains as it stands.

    python tests/new.py feature NAME
    python tests/new.py task NAME
    python tests/new.py dataset NAME [--task image_classification] [--like image_folder]

A task begins as a copy of `own`. A dataset begins as a copy of another one of its task: its lines,
and its name in conditions that name the other one; its entry in the manifest is `like` that one.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from support.formats import add_format
from support.paths import TEMPLATES

MANIFEST = """title = "{title}"
help = "says in one line what it does"
default = false
needs = ["one_optimizer"]  # the traits of tasks that it goes with, listed in templates/README.md

[options.every]
default = 10
minimum = 1
question = "Every how many steps?"
comment = "steps between two calls"
"""
CODE = """#: slot after_count
if progress.step % config.{name}_every == 0:
    log(f"{name} | step {{progress.step}}")
"""
TEST = """from helpers import run

#: slot tests
def test_{name}_every_second_step(tmp_path, capsys):
    run(tmp_path, epochs=1, max_steps=4, {name}_every=2)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("{name}")]
    assert lines == ["{name} | step 2", "{name} | step 4"]
"""


def new_feature(root: Path, name: str) -> Iterator[tuple[Path, str]]:
    """A feature with one option, one place and a test: its files, and what to fill in."""
    folder = root / "features" / name
    title = name.replace("_", " ").capitalize()
    files = {
        "feature.toml": (MANIFEST, "title, help, needs; the setting, or none"),
        "train.py": (CODE, "the slot, and what happens there"),
        "tests/test_features.py": (TEST, "what a user sees of it"),
    }
    for file, (text, about) in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(name=name, title=title), encoding="utf-8")
        yield path, about


ABOUT_TASK = {
    "task.toml": "what it is, the traits that it has, and the result that it must reach",
    "data.py": "build_datasets",
    "model.py": "build_model",
    "train.py": "the loss, the evaluation, and a batch of training",
    "predict.py": "the inputs and the outputs; only with `predicts`",
    "app.py": "one input and what is shown of it; only with `predicts`",
    "evaluate.py": "the evaluation once more, by sample; only with `predicts`",
    "tests.py": "what its tests need; below test_app and test_predict only with `predicts`",
}


def new_task(root: Path, name: str) -> Iterator[tuple[Path, str]]:
    """A copy of the task `own` with another name: its files, and what to fill in."""
    folder = root / "tasks" / name
    ignored = shutil.ignore_patterns("README.md", "__pycache__")
    shutil.copytree(root / "tasks" / "own", folder, ignore=ignored)
    manifest = folder / "task.toml"
    title = name.replace("_", " ").capitalize()
    text = re.sub(r'^title = ".*"$', f'title = "{title}"', manifest.read_text(), flags=re.M)
    manifest.write_text(text, encoding="utf-8")
    for file, about in ABOUT_TASK.items():
        yield folder / file, about


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Writes the skeleton of a part of the templates.")
    parser.add_argument("kind", choices=["task", "feature", "dataset"])
    parser.add_argument("name", help="in lower case, with underscores")
    parser.add_argument("--task", default="image_classification", help="of a dataset")
    parser.add_argument("--like", default="image_folder", help="the dataset that it begins as")
    parser.add_argument("--templates", type=Path, default=TEMPLATES, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", given.name):
        raise SystemExit(f"{given.name!r}: use lower case letters, digits and underscores.")
    if given.kind != "dataset" and (given.templates / f"{given.kind}s" / given.name).exists():
        raise SystemExit(f"there is a {given.kind} {given.name!r} already.")
    if given.kind == "dataset":
        print(add_format(given.templates, given.name, given.task, given.like))
    else:
        write = {"task": new_task, "feature": new_feature}[given.kind]
        print("Fill in:")
        for path, about in write(given.templates, given.name):
            print(f"  {path.relative_to(given.templates.parent).as_posix()}: {about}")
    setting = {
        "task": f"--task {given.name}",
        "feature": f"--set features.{given.name}=true",
        "dataset": f"--task {given.task} --set {given.task}.dataset={given.name}",
    }[given.kind]
    print(f"\nTry it: scaffold new trial --yes {setting}, then train it in trial/.")
    print("Then write the lists and the examples again: tests/pages.py, tests/examples.py.")
    if given.kind == "task":
        print("Add its record to tests/tasks/test_contract.py, as that of `own`, and what the")
        print("`command` of task.toml reads to prepare_inputs in tests/support/inputs.py.")
    if given.kind != "dataset":
        page = f"templates/{given.kind}s/{given.name}/README.md"
        print(f"Say in {page} what it does, when to use it, and what it costs.")


if __name__ == "__main__":
    main(sys.argv[1:])
