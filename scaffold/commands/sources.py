"""`scaffold explain --sources FILE`: where each line of a file of a project comes from."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import typer

from scaffold.answers.given import typed_answers
from scaffold.answers.manifests import load_catalog
from scaffold.answers.read import read_answers
from scaffold.answers.resolve import Answers, resolve
from scaffold.cache import remember
from scaffold.commands.screen import printable, terminal_width
from scaffold.errors import ScaffoldError
from scaffold.project.answers import complete
from scaffold.project.folder import find_project, read_project
from scaffold.project.pristine import PRISTINE
from scaffold.project.read import read_text
from scaffold.render.origins import Origin, same_lines, trace

YOURS, EARLIER = "yours", "from an earlier version"


@dataclass(frozen=True)
class Row:
    """A line of a file, with the lines of templates that it comes from, or words."""

    text: str
    origins: tuple[Origin, ...]
    words: str = ""

    def told(self) -> str:
        """For the first column."""
        told = (f"{o.template}:{o.line} {o.condition}".rstrip() for o in self.origins)
        return self.words or " + ".join(told)

    def as_table(self, number: int) -> dict[str, object]:
        """For editors."""
        return {
            "line": number,
            "text": self.text,
            "origins": [asdict(origin) for origin in self.origins],
            "owner": self.words == YOURS,
        }


def explain_sources(
    file: str, project: Path | None, settings: Sequence[str], answers: Path | None, as_json: bool
) -> None:
    """Print each line of a file with the template, its line and the condition that brought it.

    Of a project on the disk, or of one with the given answers. Raises ScaffoldError.
    """
    given = bool(settings or answers)
    if project is not None and given:
        raise ScaffoldError("--set and --answers are for a project that does not exist yet.")
    if project is None and not given and Path(PRISTINE).is_file():
        project = Path()
    rows = _of_answers(file, settings, answers) if project is None else _of_project(file, project)
    if as_json:
        tables = [row.as_table(number) for number, row in enumerate(rows, start=1)]
        typer.echo(json.dumps({"file": file, "lines": tables}, indent=1, ensure_ascii=False))
        return
    for line in _columns(rows):
        typer.echo(line)


def _of_answers(file: str, settings: Sequence[str], answers: Path | None) -> list[Row]:
    catalog = load_catalog()
    given: Answers = {"project.name": "example"}
    if answers is not None:
        given |= read_answers(catalog, answers)
    found = resolve(catalog, given | typed_answers(catalog, list(settings), {}))
    return [Row(text, origins) for text, origins in trace(catalog, found, remember).rows(file)]


def _of_project(file: str, folder: Path) -> list[Row]:
    catalog, folder = load_catalog(), find_project(folder)
    pristine = read_project(folder)
    name = next((old for old, new in pristine.moved.items() if new == file), file)
    text = read_text(folder, pristine.place(name))
    if text is None:
        raise ScaffoldError(f"{folder} has no file {pristine.place(name)!r}.")
    rows = [Row(row, (), YOURS) for row in text.splitlines()]
    if name not in pristine.files:
        return rows
    answers = resolve(catalog, complete(catalog, {}, pristine.answers), fresh={})
    traced = trace(catalog, answers, remember).rows(name)
    texts = [row.text for row in rows]
    for place, _ in same_lines(texts, pristine.files[name].splitlines()):
        rows[place] = replace(rows[place], words=EARLIER)
    for place, other in same_lines(texts, [line for line, _ in traced]):
        if rows[place].words == EARLIER:
            rows[place] = Row(texts[place], traced[other][1])
    return rows


def _columns(rows: Sequence[Row]) -> Iterator[str]:
    """Two columns: where a line comes from, and the line, cut where the terminal ends."""
    limit = terminal_width()
    most = 70 if limit is None else limit // 2
    width = min(max((len(row.told()) for row in rows), default=0), most)
    for row in rows:
        told = row.told()
        if limit is not None and len(told) > width:
            told = f"{told[: width - 3]}..."
        line = f"{told:<{width}} | {printable(row.text)}".rstrip()
        yield line if limit is None or len(line) <= limit else f"{line[: limit - 3]}..."
