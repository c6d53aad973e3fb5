"""Rendered projects: each set of answers is rendered once, in whichever process."""

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from types import MappingProxyType

import changed
from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.cache import remember
from scaffold.render import format as finish
from scaffold.render.project import render_project
from scaffold.render.templates import active_components
from support.files import write_files
from support.shared import digest_of, made_once


def render(given: Mapping[str, Value]) -> Mapping[str, str]:
    """The files of a project, rendered once for each set of answers."""
    answers = resolve(load_catalog(), {"project.name": "example", **given})
    key = tuple(answers.items())
    changed.rendered.add(key)
    return MappingProxyType(_render(key))


def render_with_best(given: Mapping[str, Value]) -> Mapping[str, str]:
    """As `render`, with the best model: more lines of train.py that can be edited."""
    return render({"features.best_model.enabled": True, **given})


def of_task(task: str, **settings: Value) -> dict[str, Value]:
    """Settings of a task, under their whole keys. A key that is whole stays as it is."""
    return {key if "." in key else f"{task}.{key}": value for key, value in settings.items()}


def about(task: str, **settings: Value) -> dict[str, Value]:
    """Answers that name a task, and these settings of it."""
    return {"project.task": task, **of_task(task, **settings)}


def write_project(folder: Path, task: str, **given: Value) -> Path:
    return write_files(folder, render(about(task, **given)))


@cache
def _render(answers: tuple[tuple[str, Value], ...]) -> dict[str, str]:
    def make() -> dict[str, str]:
        return render_project(load_catalog(), dict(answers), remember)

    parts = [digest_of(part.folder) for part in active_components(load_catalog(), dict(answers))]
    # of the sweep that leaves out black, nothing may be kept for others
    return made_once(f"render {finish.black_version()} {parts} {answers}", make)


def render_all(
    projects: Mapping[str, Mapping[str, Value]], formatted: bool = True
) -> dict[str, Mapping[str, str]]:
    """Many projects by their label, on all cores. Formatting would take most of the time."""
    with ProcessPoolExecutor(initializer=None if formatted else _leave_out_black) as pool:
        rendered = list(pool.map(_render_one, projects.items(), chunksize=8))
    return {label: MappingProxyType(files) for label, files in rendered}


def _leave_out_black() -> None:
    finish._format = lambda text: text
    finish.black_version = lambda: "none"


def _render_one(labelled: tuple[str, Mapping[str, Value]]) -> tuple[str, dict[str, str]]:
    label, given = labelled
    try:
        return label, dict(render(given))
    except Exception as error:  # as text, because not every exception goes from process to process
        raise RuntimeError(f"{label}: {type(error).__name__}: {error}") from None
