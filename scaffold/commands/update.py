"""`scaffold update`, `add` and `remove`: new answers or newer templates, merged into a project."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import typer

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Value, load_catalog
from scaffold.answers.schema import (
    Answers,
    find_feature,
    parse_setting,
    resolve,
    schema,
    switch_key,
)
from scaffold.answers.settings import rewrite_settings, toml_literal
from scaffold.commands.new import hardware_answers, typed_answers
from scaffold.commands.status import open_conflicts
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.merge import merge_files
from scaffold.project.answers import SETTINGS, complete, next_answers
from scaffold.project.changes import Change, Conflict, Plan
from scaffold.project.journal import apply_changes, locked
from scaffold.project.moves import follow_moves
from scaffold.project.pristine import PRISTINE, Pristine, read_pristine, write_pristine
from scaffold.project.read import read_text, read_texts
from scaffold.render.render import render_project


def update_project(
    folder: Path,
    *,
    settings: list[str],
    typed: Mapping[str, Value],
    accelerate_config: str | None = None,
    ask: bool = False,
    dry_run: bool = False,
) -> None:
    """Carry a project to other answers and to the templates of this version.

    Exits with 1 if there are conflicts. Raises ScaffoldError.
    """
    catalog = load_catalog()
    over = typed_answers(catalog, settings, typed)

    def fresh(previous: Mapping[str, Value]) -> Answers:
        return hardware_answers(catalog, accelerate_config, dict(previous), over) | over

    _run(catalog, folder, fresh, typed=over, ask=ask, dry_run=dry_run)


def switch_feature(
    folder: Path, name: str, *, on: bool, settings: list[str], dry_run: bool = False
) -> None:
    """Turn one feature on or off. Exits with 1 if there are conflicts. Raises ScaffoldError."""
    catalog = load_catalog()
    feature = find_feature(catalog, name)
    more = dict(parse_setting(catalog, setting) for setting in settings)

    def fresh(previous: Mapping[str, Value]) -> Answers:
        key = switch_key(feature)
        if on and key in previous and feature.is_on_with(previous[key]):
            return more  # as it is: with `--set`, its options change
        return {key: feature.example if on else feature.off, **more}

    _run(catalog, folder, fresh, typed=more, ask=False, dry_run=dry_run)


def _run(
    catalog: Catalog,
    folder: Path,
    fresh: Callable[[Mapping[str, Value]], Answers],
    *,
    typed: Answers,
    ask: bool,
    dry_run: bool,
) -> None:
    folder = find_project(folder)
    with locked(folder) as notes:
        _tell(notes)
        pristine = read_project(folder)
        _refuse_open_conflicts(folder, pristine)
        given = fresh(pristine.answers)
        answers = next_answers(catalog, folder, pristine, given)
        if ask:
            from scaffold.answers.dialogue import ask_answers

            imported = given.keys() - typed.keys()
            chosen = ask_answers(catalog, given, folder, previous=answers, imported=imported)
            if chosen is None:
                typer.echo("Nothing was changed.")
                raise typer.Exit(130)
            answers = chosen
        _refuse_other_task(folder, pristine, answers)
        plan = plan_update(catalog, folder, pristine, answers)
        if dry_run:
            show_plan(plan)
        else:
            notes = apply_changes(folder, plan.changes)
            _tell(notes)
            _report(plan)
    if plan.conflicts:
        raise typer.Exit(1)


def show_plan(plan: Plan) -> None:
    """The diff on standard output, the rest beside it."""
    from scaffold.commands.diff import show_changes

    show_changes(change for change in plan.changes if change.path != PRISTINE)
    _tell([*plan.notes, *_tell_conflicts(plan.conflicts)])


def find_project(folder: Path) -> Path:
    """The folder of a project. Raises ScaffoldError if it is none."""
    try:
        folder = folder.expanduser().resolve()
        if not folder.is_dir():
            raise ScaffoldError(f"{folder}: there is no such folder.")
    except (OSError, RuntimeError, ValueError) as error:
        raise ScaffoldError(f"{str(folder)!r} is no path: {error}.") from None
    if not (folder / PRISTINE).is_file():
        read_pristine(folder)  # which says what is wrong with it
    return folder


def read_project(folder: Path) -> Pristine:
    """What was generated last, with the moves of its owner. Raises ScaffoldError."""
    pristine = follow_moves(folder, read_pristine(folder))
    if _numbers(pristine.version) > _numbers(__version__):
        raise ScaffoldError(
            f"the project was written by scaffold {pristine.version}, and this is {__version__}: "
            "install that version or a later one."
        )
    return pristine


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _refuse_other_task(folder: Path, pristine: Pristine, answers: Answers) -> None:
    """A task is other data and another model: edits of one mean nothing in another."""
    key = "project.task"
    if answers[key] == pristine.answers.get(key, answers[key]):
        return
    edited = [
        name
        for name, text in pristine.files.items()
        if name != SETTINGS and read_text(folder, pristine.place(name)) != text
    ]
    if edited:
        raise AnswerError(
            key,
            f"can't change from {pristine.answers[key]} to {answers[key]}, because you edited "
            f"{', '.join(edited)}: another task has other data and another model. Write it to a "
            f"folder of its own: `scaffold new PATH --task {answers[key]}`.",
        )


def _refuse_open_conflicts(folder: Path, pristine: Pristine) -> None:
    conflicts = open_conflicts(folder, pristine)
    if conflicts:
        _tell([*_tell_conflicts(conflicts), "", _HOW_TO_GO_ON])
        raise typer.Exit(1)


# the plan


def plan_update(
    catalog: Catalog, folder: Path, pristine: Pristine, answers: Mapping[str, Value]
) -> Plan:
    """What an update to these answers does to the files. Raises ScaffoldError."""
    theirs = render_project(catalog, answers)
    options = schema(catalog)
    changed = {
        key: (pristine.answers.get(key), value)
        for key, value in answers.items()
        if key in options and pristine.answers.get(key) != value
    }
    places = {pristine.place(name) for name in (*pristine.files, *theirs)}
    mine = {place: text for place in places if (text := read_text(folder, place)) is not None}
    # other code of the owner may need what an update takes away
    mine |= read_texts(folder, (), {".py"})
    causes = _Causes(catalog, pristine, answers, changed)
    merged = merge_files(
        replace(pristine, files=_without_settings(pristine.files)),
        mine,
        _without_settings(theirs),
        causes.name,
    )
    merged.files[pristine.place(SETTINGS)] = _next_settings(
        catalog, pristine, mine, theirs, answers
    )
    after = write_pristine(
        replace(
            pristine,
            version=__version__,
            answers=answers,
            files=theirs,
            moved=_moved(pristine, theirs),
        )
    )
    changes = [
        Change(path, mine.get(path), text)
        for path, text in merged.files.items()
        if mine.get(path) != text
    ]
    before = (folder / PRISTINE).read_text(encoding="utf-8")
    if after != before:
        changes.append(Change(PRISTINE, before, after))
    return Plan(answers, changed, tuple(changes), tuple(merged.conflicts), tuple(merged.notes))


def _without_settings(files: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in files.items() if name != SETTINGS}


def _moved(pristine: Pristine, theirs: Mapping[str, str]) -> dict[str, str]:
    return {name: path for name, path in pristine.moved.items() if name in theirs}


def _next_settings(
    catalog: Catalog,
    pristine: Pristine,
    mine: Mapping[str, str],
    theirs: Mapping[str, str],
    answers: Mapping[str, Value],
) -> str:
    """The text of scaffold.toml, which is the owner's with the new answers in it."""
    own = mine.get(pristine.place(SETTINGS))
    if own is None:
        return theirs[SETTINGS]
    if own == pristine.files.get(SETTINGS):
        return theirs[SETTINGS]
    return rewrite_settings(
        catalog, own, answers, pristine.answers, rendered=pristine.files.get(SETTINGS)
    )


class _Causes:
    """Names the answer that a change comes from, with a render for each where there are several."""

    def __init__(
        self,
        catalog: Catalog,
        pristine: Pristine,
        answers: Mapping[str, Value],
        changed: Mapping[str, tuple[Value | None, Value | None]],
    ) -> None:
        self.catalog = catalog
        self.pristine = pristine
        self.answers = answers
        self.changed = changed
        self.renders: dict[str, dict[str, str]] | None = None

    def name(self, path: str, text: str) -> str:
        """The cause of a conflict about these lines of a file, as KEY = VALUE."""
        keys = list(self.changed)
        if len(keys) > 1:
            keys = [key for key in keys if self._brings(key, path, text)] or keys
        if not keys:
            return f"scaffold {__version__}"
        return ", ".join(f"{key} = {toml_literal(self.answers[key])}" for key in keys)

    def _brings(self, key: str, path: str, text: str) -> bool:
        """Whether this answer alone adds or removes one of the lines."""
        if self.renders is None:
            self.renders = dict(self._render_each())
        if key not in self.renders:
            return False
        before, after = (
            {row.strip() for row in files.get(path, "").splitlines()}
            for files in (self.pristine.files, self.renders[key])
        )
        rows = {row.strip() for row in text.splitlines() if row.strip()}
        return bool(rows & (before ^ after))

    def _render_each(self) -> Iterator[tuple[str, dict[str, str]]]:
        options = schema(self.catalog)
        known = {key: value for key, value in self.pristine.answers.items() if key in options}
        for key in self.changed:
            given = complete(self.catalog, {key: self.answers[key]}, known)
            try:
                yield key, self._render(given, key)
            except AnswerError:  # it goes only with the others
                continue

    def _render(self, given: Mapping[str, Value], key: str) -> dict[str, str]:
        answers = resolve(self.catalog, given, {key})
        return render_project(self.catalog, answers)


# what a person sees

_HOW_TO_GO_ON = (
    "In each place, keep your lines, the new ones or a mix, and delete the four markers. "
    "`scaffold status` lists what is left; `scaffold undo` takes the update back."
)


def _tell(notes: Collection[str]) -> None:
    for note in notes:
        typer.echo(note, err=True)


def _tell_conflicts(conflicts: Collection[Conflict]) -> Iterator[str]:
    if conflicts:
        yield f"{len(conflicts)} conflict(s) to decide:"
    for conflict in conflicts:
        yield f"  {conflict.path}:{conflict.line}  {conflict.label}"


def _report(plan: Plan) -> None:
    rows = [
        f"{key}: {_literal(before)} -> {_literal(after)}"
        for key, (before, after) in plan.changed.items()
    ]
    kinds: dict[str, list[str]] = {"created": [], "updated": [], "deleted": []}
    for change in plan.changes:
        kind = "created" if change.before is None else "updated"
        kind = "deleted" if change.after is None else kind
        if change.path != PRISTINE:
            kinds[kind].append(change.path)
    rows += [f"{kind:<8} {', '.join(paths)}" for kind, paths in kinds.items() if paths]
    if not rows:
        rows = [
            "Nothing to do: the project is as its answers say. Change them in scaffold.toml, with "
            "--set KEY=VALUE, or with --ask."
        ]
    typer.echo("\n".join([*rows, *plan.notes]))
    if plan.conflicts:
        typer.echo("\n".join([*_tell_conflicts(plan.conflicts), "", _HOW_TO_GO_ON]))


def _literal(value: Value | None) -> str:
    return "nothing" if value is None else toml_literal(value)
