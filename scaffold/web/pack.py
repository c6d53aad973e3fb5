"""A project to take away: one command, one archive, one notebook."""

import io
import json
import shlex
import zipfile
from collections.abc import Mapping
from typing import Any

from scaffold.answers.catalog import Catalog, Value, as_typed
from scaffold.answers.resolve import Answers
from scaffold.render.launch import launch

INSTALL = "pip install -e '.[test]'"


def as_command(given: Answers, name: str) -> str:
    """The command that writes the same project."""
    settings = [
        f"--set {shlex.quote(f'{_short(key)}={as_typed(value)}')}"
        for key, value in given.items()
        if key != "project.name"
    ]
    return " ".join(["scaffold new", shlex.quote(name), "--yes", *settings])


def _short(key: str) -> str:
    return key.removesuffix(".enabled") if key.startswith("features.") else key


def next_commands(catalog: Catalog, answers: Mapping[str, Value], folder: str) -> list[str]:
    """What trains the project, from the folder that it lies in."""
    return [f"cd {shlex.quote(folder)}", INSTALL, launch(catalog, answers).train]


def as_zip(files: Mapping[str, str], folder: str) -> bytes:
    """An archive with the files in one folder; the same files give the same bytes."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, text in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            writer.writestr(entry, text.encode())
    return archive.getvalue()


def as_notebook(
    catalog: Catalog, answers: Mapping[str, Value], files: Mapping[str, str], folder: str
) -> str:
    """A notebook that writes the files, and trains: for Colab, or for any Jupyter."""
    folders = sorted({f"{folder}/{name}".rpartition("/")[0] for name in files})
    shown = "\n".join(f"!mkdir -p {shlex.quote(path)}" for path in folders)
    cells = [
        _cell("markdown", f"# {folder}\n\nRun all cells: they write the project, and train it."),
        _cell("code", shown),
        *(
            _cell("code", f"%%writefile {folder}/{name}\n{text.removesuffix(chr(10))}")
            for name, text in files.items()
        ),
        _cell("code", f"%cd {folder}\n!{INSTALL}"),
        _cell("code", f"!{launch(catalog, answers).script}"),
    ]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    book = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, text: str) -> dict[str, Any]:
    cell = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
