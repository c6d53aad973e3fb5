"""An update of an edited project by `scaffold update`, what it leaves, and how that is read."""

import contextlib
import io
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Value, as_typed
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.cli import main
from scaffold.commands import plan
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from scaffold.render.project import render_project
from support.canonical import canonical
from support.files import read_files, write_files

Files = dict[str, str]

MARKER = re.compile(rb"^(<<<<<<< |>>>>>>> )", re.MULTILINE)
# what a tool writes for itself, and what git or an editor leaves behind
OWN = re.compile(
    r"(^|/)(\.scaffold|\.git|\.pytest_cache|__pycache__)/|\.(copier-answers\.yml|orig)$"
)


def read_project(folder: Path) -> dict[str, bytes]:
    """Its files, without those of tools."""
    files = read_files(folder).items()
    return {path: data for path, data in files if not OWN.search(path) and path != ".cruft.json"}


@dataclass(frozen=True)
class Outcome:
    """What a tool made of a project."""

    files: Mapping[str, bytes]
    failed: bool = False  # it said by its exit status that a person has to look
    unmerged: frozenset[str] = frozenset()  # paths that git has no one version of
    said: str = ""

    def conflicts(self) -> set[str]:
        """The files in which a person has to decide; "?" where the tool does not say it there."""
        marked = {path for path, data in self.files.items() if MARKER.search(data)}
        rejected = {path.removesuffix(".rej") for path in self.files if path.endswith(".rej")}
        found = marked | rejected | self.unmerged
        return found or ({"?"} if self.failed else set())


def difference(expected: Mapping[str, str], got: Mapping[str, str]) -> str:
    """What is not as expected, or nothing."""
    for path in sorted({*got} ^ {*expected}):
        return f"{path} is {'there' if path in got else 'missing'}"
    for path, text in expected.items():
        found = got[path]
        if found != text and canonical(path, found) != canonical(path, text):
            return f"{path} differs"
    return ""


def encoded(path: str, text: str) -> bytes:
    """The bytes of a file, by the coding that its first lines name."""
    found = re.match(r"#.*?coding[:=][ \t]*([-\w.]+)", text) if path.endswith(".py") else None
    return text.encode(found[1] if found else "utf-8")


def decoded(path: str, data: bytes) -> str:
    head = data[:200].decode("latin-1").splitlines()[:1]
    found = re.match(r"#.*?coding[:=][ \t]*([-\w.]+)", head[0]) if head else None
    return data.decode(found[1] if found and path.endswith(".py") else "utf-8", "replace")


_rendered: dict[tuple[object, ...], Files] = {}


def _render_once(catalog: Catalog, given: Mapping[str, Value], *more: object) -> Files:
    """What scaffold renders, which is the same for each edit."""
    key = tuple(given.items())
    if key not in _rendered:
        _rendered[key] = render_project(catalog, given, *more)  # type: ignore[arg-type]
    return dict(_rendered[key])


def _update(folder: Path, changed: Mapping[str, Value]) -> tuple[int, str]:
    """`scaffold update` in this process: its exit status, and all that it prints."""
    given = [f"--set={key}={as_typed(value)}" for key, value in changed.items()]
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["scaffold", "update", str(folder), *given]),
        mock.patch.object(plan, "render_project", _render_once),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            main()
            code: object = 0
        except SystemExit as stop:
            code = stop.code or 0
        except Exception as error:
            return 70, f"raised {type(error).__name__}: {error}"
    assert isinstance(code, int)
    return code, printed.getvalue()


def update_project(
    folder: Path,
    given: Mapping[str, Value],
    base: Mapping[str, str],
    mine: Mapping[str, str],
    *updates: Mapping[str, Value],
) -> tuple[int, Outcome]:
    """A project as `scaffold new` writes it, edited, then updated: the highest exit status."""
    answers = resolve(load_catalog(), {"project.name": "example", **given})
    pristine = Pristine(__version__, answers, dict(base))
    write_files(folder, {PRISTINE: write_pristine(pristine)})
    for path, text in mine.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(encoded(path, text))
    runs = [_update(folder, changed) for changed in updates]
    code, said = max(code for code, _ in runs), "".join(said for _, said in runs)
    return code, Outcome(read_project(folder), code != 0, said=said)
