"""The projects in generated_examples/.

`python tests/examples.py` renders them again. With `--train [NAME ...]` it also trains those of the
tasks, and keeps what the run said and drew in their folder `result`, which their README shows.
"""

import ast
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tokenize
from collections.abc import Mapping
from pathlib import Path

from scaffold.answers.catalog import Catalog, as_typed
from scaffold.answers.check import parse_setting
from scaffold.answers.manifests import load_catalog
from scaffold.answers.recipes import recipe_answers
from scaffold.answers.resolve import resolve
from scaffold.errors import AnswerError
from scaffold.render.format import Remember, make_anew
from scaffold.render.project import build_project
from support.files import write_files
from support.paths import REPOSITORY

FOLDER = REPOSITORY / "generated_examples"
HAVE_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef)
COMMAND = "python tests/examples.py"
README, RESULT = "README.md", "result"


def all_features(catalog: Catalog) -> list[str]:
    """Settings that turn on all features that go with each other, with two processes on the CPU."""
    hardware = ["distributed_type=MULTI_CPU", "num_processes=2", "mixed_precision=bf16"]
    settings = [f"hardware.{row}" for row in hardware]
    for feature in catalog.features.values():
        more = f"{feature.switch or f'features.{feature.name}'}={feature.example}"
        if not more.startswith("hardware."):
            try:
                resolve(catalog, dict(parse_setting(catalog, row) for row in [*settings, more]))
            except AnswerError:  # it excludes one before it
                continue
            settings.append(more)
    return settings


def examples() -> dict[str, list[str]]:
    """Settings of each example, by its name: one per task, and three others."""
    catalog = load_catalog()
    return {
        **{task: [f"project.task={task}", *CURVES] for task in catalog.tasks},
        "everything": all_features(catalog),
        "minimal": [
            f"{key}={as_typed(value)}" for key, value in recipe_answers(catalog, "minimal").items()
        ],
        "two_processes_bf16": ["hardware.num_processes=2", "hardware.mixed_precision=bf16"],
    }


CURVES = ["features.learning_curves=true"]


def render_example(name: str, remember: Remember = make_anew) -> dict[str, str]:
    """The files of an example."""
    catalog = load_catalog()
    given = dict(parse_setting(catalog, setting) for setting in examples()[name])
    return build_project(catalog, resolve(catalog, {"project.name": name, **given}), remember)


def render_examples(target: Path) -> None:
    """Write all examples to a folder, in place of what was there but the results of runs."""
    for path in target.iterdir() if target.is_dir() else ():
        for entry in path.iterdir():
            if entry.name == RESULT and path.name in examples():
                continue
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        if not any(path.iterdir()):
            path.rmdir()
    for name in examples():
        files = render_example(name)
        files[README] += show_result(target / name / RESULT)
        write_files(target / name, files)


def show_result(folder: Path) -> str:
    """The part of a README about the run whose results are in a folder, if there was one."""
    if not folder.is_dir():
        return ""
    run = json.loads((folder / "run.json").read_text())
    rows = [
        "## Results of a run",
        f"`{run['command']}` on {run['machine']}, in {run['seconds']:.0f} seconds:",
        "```\n" + "\n".join(run["log"]) + "\n```",
    ]
    for path in sorted(folder.glob("*.txt")):
        text = path.read_text(encoding="utf-8").strip()
        rows.append(f"The end of `{path.name}`:\n\n```\n{text}\n```")
    for path in sorted(folder.glob("*.png")):
        rows.append(f"![{path.stem.replace('_', ' ')}]({RESULT}/{path.name})")
    return "\n" + "\n\n".join(rows) + "\n"


def code_digest(files: Mapping[str, str]) -> str:
    """What the code of an example hashes to, without its tests, comments and docstrings."""
    code = [(file, text) for file, text in sorted(files.items()) if file.endswith(".py")]
    trained = [(file, what_runs(text)) for file, text in code if not file.startswith("tests/")]
    return hashlib.sha256(json.dumps(trained).encode()).hexdigest()


def what_runs(text: str) -> list[str]:
    """The lines of code, without those of comments and docstrings."""
    rows = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            rows[line - 1] = rows[line - 1][:column]
    for node in ast.walk(ast.parse(text)):
        first = node.body[0] if isinstance(node, HAVE_DOCSTRINGS) and node.body else None
        if first is not None and ast.get_docstring(node, clean=False) is not None:
            end = first.end_lineno or first.lineno
            rows[first.lineno - 1 : end] = [""] * (end - first.lineno + 1)
    return [row.rstrip() for row in rows if row.strip()]


def train_example(name: str) -> None:
    """Train an example on one process, and keep the end of its log, its pictures and its texts."""
    target = FOLDER / name / RESULT
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), render_example(name))
        began = time.monotonic()
        result = subprocess.run(
            [sys.executable, "train.py"], cwd=folder, capture_output=True, text=True, check=True
        )
        seconds = time.monotonic() - began
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        lines = result.stdout.splitlines()
        kept = re.compile(r"\S+ \| \d+ process|epoch|early stop|done")
        log = [line for line in lines if kept.match(line)]
        run = {
            "command": "python train.py",
            "code": code_digest(render_example(name)),
            "machine": f"{os.cpu_count()} CPU cores",
            "seconds": round(seconds, 1),
            "log": log if len(log) <= 12 else [*log[:3], "...", *log[-6:]],
        }
        (target / "run.json").write_text(json.dumps(run, indent=1) + "\n")
        [output] = Path(folder, "runs").iterdir()
        pictures = [path for path in output.glob("*.png") if not re.search(r"\d", path.stem)]
        for path in [*pictures, *sorted(output.rglob("*.png"))[-1:]][:3]:
            shutil.copy(path, target / path.name)
        for path in sorted(output.glob("*.txt"))[-1:]:  # the last sample
            rows = path.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
            (target / path.name).write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        for task in sys.argv[2:] or load_catalog().tasks:
            train_example(task)
            print(f"trained {task}", flush=True)
    render_examples(FOLDER)
    print(f"wrote {', '.join(examples())} to {FOLDER}")
