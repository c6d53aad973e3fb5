"""`scaffold update`, `add` and `remove`: new answers or newer templates, merged into a project."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import typer

from scaffold.answers.catalog import Catalog, Feature, Value, as_typed
from scaffold.answers.check import find_feature, parse_setting
from scaffold.answers.given import hardware_answers, typed_answers
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import LOOP, Answers, required
from scaffold.answers.settings import SETTINGS, toml_literal
from scaffold.commands.plan import Plan, plan_update
from scaffold.commands.screen import (
    is_terminal,
    show_changes,
    tell_conflicts,
    tell_notes,
    tell_warnings,
)
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.project.answers import next_answers
from scaffold.project.folder import find_project, read_project
from scaffold.project.journal import apply_changes, locked
from scaffold.project.pristine import PRISTINE, Pristine
from scaffold.project.read import read_text
from scaffold.project.state import open_conflicts


def update_project(
    folder: Path,
    *,
    settings: list[str],
    typed: Mapping[str, Value],
    accelerate_config: str | None = None,
    ask: bool = False,
    dry_run: bool = False,
) -> None:
    """Bring a project to new answers and to the templates of this version.

    Exits with 1 if there are conflicts or warnings. Raises ScaffoldError.
    """
    catalog = load_catalog()
    over = typed_answers(catalog, settings, typed)

    def fresh(previous: Mapping[str, Value]) -> Answers:
        return hardware_answers(catalog, accelerate_config, dict(previous), over) | over

    command = ["update", *(["--ask"] if ask else []), *_as_settings(over)]
    if accelerate_config is not None:
        command += ["--from-accelerate-config", accelerate_config]
    _run(catalog, folder, fresh, typed=over, ask=ask, dry_run=dry_run, command=command)


def switch_features(
    names: Sequence[str],
    project: Path | None,
    *,
    on: bool,
    settings: list[str],
    dry_run: bool = False,
) -> None:
    """Turn features on, with those that they require, or off.

    Without `project`, the last name may be its folder. Exits with 1 if there are conflicts or
    warnings. Raises ScaffoldError.
    """
    catalog = load_catalog()
    folder, names = _find_folder(catalog, names, project)
    features = [find_feature(catalog, name) for name in dict.fromkeys(names)]
    more = dict(parse_setting(catalog, setting) for setting in settings)

    def fresh(previous: Mapping[str, Value]) -> Answers:
        if not on:
            return {feature.switch_key: feature.off for feature in features} | more
        return _turn_on(catalog, features, previous) | more

    command = ["add" if on else "remove", *(part.name for part in features), *_as_settings(more)]
    _run(catalog, folder, fresh, typed=more, ask=False, dry_run=dry_run, command=command)


def _find_folder(
    catalog: Catalog, names: Sequence[str], project: Path | None
) -> tuple[Path, Sequence[str]]:
    """The project's folder, and the names of features. Raises ScaffoldError."""
    if project is not None:
        return project, names
    *others, last = names
    is_feature = last.removeprefix("features.") in catalog.features
    if is_feature or not (os.sep in last or Path(last).is_dir()):
        return Path(), names
    if not others:
        raise ScaffoldError(f"{last} is a folder: name the features first, then the folder.")
    return Path(last), others


def _turn_on(
    catalog: Catalog, features: Sequence[Feature], previous: Mapping[str, Value]
) -> Answers:
    """The answers that turn on what is not on, with the features that these need."""
    found: Answers = {}
    every = [part for named in features for part in (*required(catalog, named), named)]
    for feature in {part.name: part for part in every}.values():
        key = feature.switch_key
        if key in previous and feature.is_on_with(previous[key]):
            continue  # `--set` changes its options
        if not feature.minimal and LOOP in previous:
            found[LOOP] = "complete"
        found[key] = feature.example
        if feature not in features:
            needing = next(named for named in features if feature in required(catalog, named))
            tell_notes([f"{feature.name} is turned on too: {needing.name} needs it."])
    return found


def _as_settings(answers: Answers) -> list[str]:
    return [
        part for key, value in answers.items() for part in ("--set", f"{key}={as_typed(value)}")
    ]


def _told(command: Sequence[str]) -> str:
    """A command as `scaffold undo` tells it."""
    return shlex.join(["scaffold", *command])


def _run(
    catalog: Catalog,
    folder: Path,
    fresh: Callable[[Mapping[str, Value]], Answers],
    *,
    typed: Answers,
    ask: bool,
    dry_run: bool,
    command: Sequence[str],
) -> None:
    folder = find_project(folder)
    if ask and not is_terminal():
        raise ScaffoldError(
            "--ask needs a terminal: give answers with --set KEY=VALUE, or edit scaffold.toml."
        )
    with locked(folder) as notes:
        tell_notes(notes)
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
        refuse_other_task(folder, pristine, answers)
        plan = plan_update(catalog, folder, pristine, answers)
        if dry_run:
            show_plan(plan)
        else:
            notes = apply_changes(folder, plan.changes, command=_told(command))
            tell_notes(notes)
            _report(plan)
    if plan.conflicts or plan.warnings:
        raise typer.Exit(1)


def show_plan(plan: Plan) -> None:
    """The diff on standard output, the rest on standard error."""
    show_changes(change for change in plan.changes if change.path != PRISTINE)
    tell_notes([*plan.notes, *tell_warnings(plan.warnings), *tell_conflicts(plan.conflicts)])


def refuse_other_task(folder: Path, pristine: Pristine, answers: Answers) -> None:
    """Another task has different data and a different model: edits can't be carried over."""
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
            f"{', '.join(edited)}: another task needs different data and a different model. Create "
            f"a new project instead: `scaffold new PATH --task {answers[key]}`.",
        )


def _refuse_open_conflicts(folder: Path, pristine: Pristine) -> None:
    conflicts = open_conflicts(folder, pristine)
    if conflicts:
        tell_notes([*tell_conflicts(conflicts), "", _HOW_TO_GO_ON])
        raise typer.Exit(1)


# what the user sees

_HOW_TO_GO_ON = (
    "For each conflict, keep your lines, the new ones or a mix, and delete the four markers. "
    "`scaffold resolve` takes one side of them; `scaffold status` lists the open conflicts; "
    "`scaffold undo` reverts the update."
)


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
            "Nothing to do: the project matches its answers. Change them in scaffold.toml, with "
            "--set KEY=VALUE or with --ask."
        ]
    typer.echo("\n".join([*rows, *plan.notes, *tell_warnings(plan.warnings)]))
    if plan.warnings and not plan.conflicts:
        typer.echo("\nThe update is applied. `scaffold undo` reverts it.")
    if plan.conflicts:
        typer.echo("\n".join([*tell_conflicts(plan.conflicts), "", _HOW_TO_GO_ON]))


def _literal(value: Value | None) -> str:
    return "not set" if value is None else toml_literal(value)
