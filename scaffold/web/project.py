"""The page for a project that exists: its edits, and what an update to other answers would do."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.resolve import Answers, resolve
from scaffold.answers.settings import toml_literal
from scaffold.commands.plan import Plan, plan_update
from scaffold.commands.update import refuse_other_task
from scaffold.errors import ScaffoldError
from scaffold.merge.conflicts import find_conflicts
from scaffold.merge.source.style import Ending, take_ending
from scaffold.project.answers import complete, edited_answers
from scaffold.project.changes import Change
from scaffold.project.folder import find_project, read_project
from scaffold.project.journal import apply_changes, last_commands, locked, undo_last
from scaffold.project.pristine import PRISTINE, Pristine
from scaffold.project.read import read_text
from scaffold.project.state import open_conflicts
from scaffold.render.format import Remember
from scaffold.web.form import Wishes
from scaffold.web.pack import as_command
from scaffold.web.page import Body, Page

CHANGED = (
    "The project has changed on the disk since this page showed it: nothing was written. Look at "
    "it as it is now, and try again."
)


class ExistingProject(Page):
    """Reads the project anew in each call; only `apply`, `settle` and `undo` write."""

    def __init__(self, catalog: Catalog, remember: Remember, folder: Path) -> None:
        super().__init__(catalog, remember)
        self.folder = find_project(folder)
        self.pristine: Pristine
        self.edited: Answers
        self.previous: Mapping[str, Value]
        self.read()

    def calls(self) -> Any:
        own = {
            "apply": self.apply,
            "settle": self.settle,
            "stamp": self.stamp,
            "undo": self.undo,
        }
        return {**super().calls(), **own}

    def read(self) -> None:
        """Read what was generated last, and what the owner changed in scaffold.toml."""
        self.pristine = read_project(self.folder)
        found = edited_answers(self.catalog, self.folder, self.pristine)
        self.edited, self.previous = found

    def start(self, body: Body) -> dict[str, Any]:
        return {**super().start(body), "mode": "project", "root": str(self.folder)}

    def resolve(self, given: Answers) -> Answers:
        """As `project.answers.next_answers`, from what was read."""
        edited = dict(self.edited)
        for key in given:
            table = key.rpartition(".")[0]
            if table.startswith("features.") and f"{table}.enabled" not in given:
                edited.pop(f"{table}.enabled", None)
        fresh = {**edited, **given}
        return resolve(self.catalog, complete(self.catalog, fresh, self.previous), fresh=fresh)

    def render(self, body: Body) -> dict[str, Any]:
        """The files as they are and as they were generated, and what an update would make."""
        self.read()
        today = self._today()
        waiting = open_conflicts(self.folder, self.pristine)
        if waiting:
            return {**self._about(today, today), "conflicts": _regions(today), "open": True}
        wishes = self.wishes(body)
        plan = self._plan(wishes)
        today |= {
            change.path: change.before
            for change in plan.changes
            if change.before is not None and change.path != PRISTINE
        }
        after = _apply(today, plan.changes)
        return {
            **self._about(today, after),
            "conflicts": [asdict(conflict) for conflict in plan.conflicts],
            "open": False,
            "notes": plan.notes,
            "warnings": plan.warnings,
            "changed": [
                (key, _shown(before), _shown(now)) for key, (before, now) in plan.changed.items()
            ],
            "plan": _digest(plan),
            "command": as_command(wishes.kept, str(self.folder)).replace("new", "update", 1),
            "wrong": dict(wishes.wrong),
        }

    def origins(self, body: Body) -> dict[str, Any]:
        """As that of a new project, of a file that may have been moved."""
        moved = {place: name for name, place in self.pristine.moved.items()}
        file = str(body.get("file"))
        return super().origins({**body, "file": moved.get(file, file)})

    def _plan(self, wishes: Wishes) -> Plan:
        refuse_other_task(self.folder, self.pristine, wishes.answers)
        return plan_update(self.catalog, self.folder, self.pristine, wishes.answers)

    def _today(self) -> dict[str, str]:
        """The generated files that exist, as their owner has them."""
        places = map(self.pristine.place, self.pristine.files)
        texts = {place: read_text(self.folder, place) for place in places}
        return {place: text for place, text in texts.items() if text is not None}

    def _about(self, today: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
        return {
            "name": self.folder.name,
            "files": after,
            "today": today,
            "generated": dict(_generated(self.pristine, today)),
            "stamp": self.stamp({})["stamp"],
            "undo": self._last_command(),
            "next": [],
        }

    def _last_command(self) -> str | None:
        commands = last_commands(self.folder)
        return (commands[0] or "the last update") if commands else None

    def stamp(self, body: Body) -> dict[str, Any]:
        """What differs when a file of the project does."""
        texts = {place: read_text(self.folder, place) for place in self._places()}
        return {"stamp": hashlib.sha256(json.dumps(texts).encode()).hexdigest()}

    def _places(self) -> Iterable[str]:
        return (PRISTINE, *sorted(map(self.pristine.place, self.pristine.files)))

    def apply(self, body: Body) -> dict[str, Any]:
        """Make the update that the page shows, with the conflicts that are decided in it."""
        with locked(self.folder) as notes:
            self.read()
            if open_conflicts(self.folder, self.pristine):
                raise ScaffoldError(CHANGED)
            wishes = self.wishes(body)
            plan = self._plan(wishes)
            if _digest(plan) != body.get("plan"):
                raise ScaffoldError(CHANGED)
            decided = _decided(body, {conflict.path for conflict in plan.conflicts})
            changes = [
                replace(change, after=decided.get(change.path, change.after))
                for change in plan.changes
            ]
            command = f"scaffold web {_settings(wishes)}".strip()
            notes = [*notes, *apply_changes(self.folder, changes, command=command)]
        return {"told": f"Updated {self.folder.name}.", "notes": [*notes, *plan.warnings]}

    def settle(self, body: Body) -> dict[str, Any]:
        """Write what was decided in conflicts that an earlier update left."""
        with locked(self.folder) as notes:
            self.read()
            if self.stamp({})["stamp"] != body.get("stamp"):
                raise ScaffoldError(CHANGED)
            today = self._today()
            places = {self.pristine.place(name) for name in self.pristine.files}
            decided = _decided(body, {conflict["path"] for conflict in _regions(today)})
            changes = [
                Change(path, today[path], text if text or path in places else None)
                for path, text in decided.items()
            ]
            command = "scaffold web, conflicts"
            notes += apply_changes(self.folder, changes, command=command)
        return {"told": f"Wrote {', '.join(decided)}.", "notes": notes}

    def undo(self, body: Body) -> dict[str, Any]:
        """As `scaffold undo`. With `keepCopy`, edited files are kept beside."""
        with locked(self.folder) as notes:
            command = self._last_command()
            notes = [*notes, *undo_last(self.folder, bool(body.get("keepCopy")))]
        return {"told": f"Undid {command}.", "notes": notes}


def _generated(pristine: Pristine, today: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The files as they were generated, with the newlines that their owner's have today."""
    for name, text in pristine.files.items():
        place = pristine.place(name)
        ending = Ending(crlf=take_ending(today.get(place, ""))[1].crlf)
        yield place, ending.put_on(text)


def _apply(texts: Mapping[str, str], changes: Iterable[Change]) -> dict[str, str]:
    after = dict(texts)
    for change in changes:
        if change.path == PRISTINE:
            continue
        if change.after is None:
            after.pop(change.path, None)
        else:
            after[change.path] = change.after
    return dict(sorted(after.items()))


def _regions(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    return [asdict(found) for path, text in texts.items() for found in find_conflicts(path, text)]


def _decided(body: Body, allowed: set[str]) -> dict[str, str]:
    """The texts of files in which conflicts were decided. Raises ScaffoldError for others."""
    texts = body.get("resolved", {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ScaffoldError("'resolved' must be texts by path.")
    for path in texts:
        if path not in allowed:
            raise ScaffoldError(f"{path}: has no conflict to decide.")
    return texts


def _digest(plan: Plan) -> str:
    """What differs if the update would do something else."""
    changes = [asdict(change) for change in plan.changes]
    return hashlib.sha256(json.dumps(changes).encode()).hexdigest()


def _settings(wishes: Wishes) -> str:
    return ", ".join(f"{key} = {toml_literal(value)}" for key, value in wishes.kept.items())


def _shown(value: Value | None) -> str:
    return "not set" if value is None else toml_literal(value)
