"""Writes the skeleton of a task, a feature or a dataset, which renders and trains as it stands.

    python tests/new.py feature NAME
    python tests/new.py task NAME
    python tests/new.py dataset NAME [--task image_classification] [--like image_folder]

A task begins as a copy of `own`. A dataset begins as a copy of another one of its task: its code,
and its name in conditions that name the other one; its entry in the manifest is `like` that one.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

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
    log(f"step {{progress.step}} | {name}")
"""


def new_feature(root: Path, name: str) -> Iterator[Path]:
    """A feature with one option and one place."""
    folder = root / "features" / name
    folder.mkdir()
    title = name.replace("_", " ").capitalize()
    for file, text in (("feature.toml", MANIFEST), ("train.py", CODE)):
        (folder / file).write_text(text.format(name=name, title=title), encoding="utf-8")
        yield folder / file


def new_task(root: Path, name: str) -> Iterator[Path]:
    """A copy of the task `own` with another name."""
    folder = root / "tasks" / name
    ignored = shutil.ignore_patterns("README.md", "__pycache__")
    shutil.copytree(root / "tasks" / "own", folder, ignore=ignored)
    manifest = folder / "task.toml"
    title = name.replace("_", " ").capitalize()
    text = re.sub(r'^title = ".*"$', f'title = "{title}"', manifest.read_text(), flags=re.M)
    manifest.write_text(text, encoding="utf-8")
    yield from sorted(path for path in folder.rglob("*") if path.is_file())


def new_dataset(root: Path, name: str, task: str, like: str) -> Iterator[Path]:
    """A copy of a choice of the option `dataset`: its code, its entry and its conditions."""
    folder = root / "tasks" / task
    manifest = folder / "task.toml"
    text = manifest.read_text(encoding="utf-8")
    entries = re.findall(r"\[\[options\.dataset\.choices\]\]\n(?:(?!\[).*\n)*", text)
    entry = next((entry for entry in entries if f'value = "{like}"\n' in entry), None)
    if entry is None:
        raise SystemExit(f"{manifest} has no dataset {like!r}.")
    if f'value = "{name}"\n' in text:
        raise SystemExit(f"{manifest} already has a dataset {name!r}.")
    if not (folder / like / "data.py").is_file():
        raise SystemExit(f"{like} has no data.py of its own: begin as another one, with --like.")
    own = "".join(row for row in entry.splitlines(True) if row.startswith(("[[", "help = ")))
    own = own.replace("help = ", f'value = "{name}"\nlike = "{like}"\nhelp = ')
    text = text.replace(entries[-1], f"{entries[-1].rstrip()}\n\n{own}\n")
    text = re.sub(rf'(?m)^(when = .*\bdataset = \[[^]]*"{like}")', rf'\1, "{name}"', text)
    manifest.write_text(text, encoding="utf-8")
    yield manifest
    (folder / name).mkdir()
    code = (folder / like / "data.py").read_text(encoding="utf-8")
    target = folder / name / "data.py"
    target.write_text(re.sub(rf"\bdataset={like}\b", f"dataset={name}", code), encoding="utf-8")
    yield target
    yield from _extend(folder, rf"\bdataset=(?:\w+\|)*{like}", name, {folder / name, folder / like})
    yield from _extend(root / "shared", rf"\bdataset=(?:\w+\|)*{like}", name)
    for kind in ("base", "features", "hardware"):
        yield from _extend(root / kind, rf"\b{task}\.dataset=(?:\w+\|)*{like}", name)


def _extend(
    folder: Path, pattern: str, name: str, without: Collection[Path] = ()
) -> Iterator[Path]:
    """Add a value to conditions. Returns the templates that change."""
    named = re.compile(rf"(?m)^( *#: .*{pattern})(?=[| \n])")
    for path in sorted(folder.rglob("*.py")):
        before = path.read_text(encoding="utf-8")
        after = named.sub(rf"\1|{name}", before)
        if after != before and path.parent not in without:
            path.write_text(after, encoding="utf-8")
            yield path


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
        written = list(new_dataset(given.templates, given.name, given.task, given.like))
    else:
        write = {"task": new_task, "feature": new_feature}[given.kind]
        written = list(write(given.templates, given.name))
    for path in written:
        print(path.relative_to(given.templates.parent))
    if given.kind == "dataset":
        print("\nEdit the first two. In the others, a condition names the format: where it differs")
        print("from the other one, as in its tests, take the name out, and write its own lines.")
    setting = {
        "task": f"--task {given.name}",
        "feature": f"--set features.{given.name}=true",
        "dataset": f"--task {given.task} --set {given.task}.dataset={given.name}",
    }[given.kind]
    print(f"\nTry it: scaffold new trial --yes {setting}, then train it in trial/.")
    print("Then write the pages and the examples again: tests/pages.py, tests/examples.py.")
    if given.kind != "dataset":
        page = f"templates/{given.kind}s/{given.name}/README.md"
        print(f"Say in {page}, above the mark, what it does, when to use it, and what it costs.")


if __name__ == "__main__":
    main(sys.argv[1:])
