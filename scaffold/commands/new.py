"""`scaffold new`: asks, renders in memory, writes."""

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

import typer

from scaffold.answers.catalog import HUB, Catalog, Value
from scaffold.answers.check import check, find_option
from scaffold.answers.data import Finding, look_at_data
from scaffold.answers.given import hardware_answers, typed_answers
from scaffold.answers.manifests import load_catalog
from scaffold.answers.questions import FINER, begin, open_questions
from scaffold.answers.read import read_answers
from scaffold.answers.resolve import Answers, applies, resolve
from scaffold.cache import remember
from scaffold.commands.screen import has_piped_input, is_terminal
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.project.origin import find_origin
from scaffold.project.write import check_target, write_new
from scaffold.render.launch import launch
from scaffold.render.project import build_project


def new_project(
    folder: Path,
    *,
    settings: list[str],
    typed: Mapping[str, Value],
    answers_file: Path | None,
    recipe: str | None = None,
    accelerate_config: str | None = None,
    ask: bool,
    dry_run: bool,
    print_file: str | None,
    into: bool = False,
) -> None:
    """Write a project to a folder, or only show it.

    Later sources win: recipe, answers file, Accelerate file, options, settings. Asks for the rest
    if `ask` and there is a terminal, but not with a recipe. With `into`, the folder may hold other
    files. Raises ScaffoldError.
    """
    catalog = load_catalog()
    folder = absolute(folder)
    under: Answers = {}
    if recipe:
        from scaffold.answers.recipes import recipe_answers

        under = recipe_answers(catalog, recipe)
    under |= read_answers(catalog, answers_file) if answers_file else {}
    over = typed_answers(catalog, settings, typed)
    imported = hardware_answers(catalog, accelerate_config, under, over)
    given = under | imported | over
    ask = ask and not recipe and not dry_run and print_file is None
    is_asked = ask and is_terminal()
    if is_asked:
        from scaffold.answers.dialogue import ask_answers

        check_target(folder, {}, into=into)
        answers = ask_answers(catalog, given, folder, imported=imported.keys() - over.keys())
        if answers is None:
            typer.echo("Nothing was written.")
            raise typer.Exit(130)
    else:
        answers = resolve(catalog, name_after(catalog, given, folder))
    # a person in the dialogue has seen it
    found = {} if is_asked else look_at_data(catalog, answers, [folder, Path.cwd()])
    answers = find_data(catalog, answers, folder)
    files = build_project(catalog, answers, remember, find_origin().as_table())
    if print_file is not None:
        typer.echo(find_file(files, print_file), nl=False)
    elif dry_run:
        check_target(folder, files, into=into)
        typer.echo("\n".join(["Would write:", "", *draw_tree(folder, files)]))
    else:
        if ask and not answers_file:
            refuse_piped_answers(catalog, given, folder)
        write_new(folder, files, into=into)
        rows = [*draw_tree(folder, files), "", *describe_data(found.values())]
        typer.echo("\n".join([*rows, *next_steps(catalog, folder, answers)]))


def find_file(files: Mapping[str, str], name: str) -> str:
    """The text of one file. Raises ScaffoldError if there is none of this name."""
    if name not in files:
        raise ScaffoldError(
            f"--print {name}: there is no such file; the files are {', '.join(files)}."
        )
    return files[name]


def absolute(folder: Path) -> Path:
    """The folder without '..', and without links in the part that exists. Raises ScaffoldError."""
    try:
        folder = folder.expanduser().absolute()
        for path in (folder, *folder.parents):
            if path.is_symlink() and not path.exists():
                raise ScaffoldError(f"{path} is a broken link: choose another path.")
        return folder.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise ScaffoldError(f"{str(folder)!r} is not a valid path: {error}.") from None


def name_after(catalog: Catalog, given: Answers, folder: Path) -> Answers:
    """The answers with the folder's name as the project's, unless a name is given."""
    if "project.name" in given:
        return given
    try:
        name = check(find_option(catalog, "project.name"), folder.name)
    except AnswerError as error:
        raise ScaffoldError(
            f"the project can't be named after its folder: {error.reason} "
            "Set another name with --name."
        ) from None
    return {**given, "project.name": name}


def refuse_piped_answers(catalog: Catalog, given: Answers, folder: Path) -> None:
    """Raises ScaffoldError if there is input that nobody reads, and questions it could answer."""
    if not has_piped_input():
        return
    interview = begin(catalog, given, folder.name)
    if any(key != FINER for key in open_questions(interview)):
        raise ScaffoldError(
            "there is input on standard input, but answers are read only from a terminal: give "
            "them with --set KEY=VALUE or --answers FILE, or use the defaults with --yes."
        )


def named_paths(catalog: Catalog, answers: Mapping[str, Value]) -> dict[str, str]:
    """The paths of data and models, and names on the Hub, by key."""
    return {
        key: str(answers[key])
        for key, option in catalog.settings.items()
        if option.path and answers[key] and applies(catalog, option, answers)
    }


def find_data(catalog: Catalog, answers: Answers, folder: Path) -> Answers:
    """The answers with paths that are relative to the project, for what is found here."""
    found = {}
    for key, value in named_paths(catalog, answers).items():
        path = Path(value).expanduser()
        if str(path) != value and value.startswith("~"):
            found[key] = str(path)  # Python's open() has no ~
        elif not path.is_absolute() and path.exists() and not (folder / path).exists():
            found[key] = Path(os.path.relpath(path.absolute(), folder)).as_posix()
    return {**answers, **found}


def draw_tree(folder: Path, names: Iterable[str]) -> list[str]:
    """The files below a folder, a line each."""
    lines = [f"{folder}/"]
    names = list(names)
    for name in names:
        branch = "└──" if name == names[-1] else "├──"
        lines.append(f"{branch} {name}")
    return lines


def describe_data(found: Iterable[Finding]) -> list[str]:
    """What was found, without what is missing: the next steps say where that belongs."""
    there = [finding for finding in found if finding.facts or finding.problem]
    return [line for finding in there for line in (str(finding), "")]


def next_steps(catalog: Catalog, folder: Path, answers: Mapping[str, Value]) -> list[str]:
    """The commands that train the project, ready to copy."""
    missing = [
        f"  # put the data at {path}: {catalog.settings[key].comment}"
        for key, path in named_paths(catalog, answers).items()
        if catalog.settings[key].path != HUB and not (folder / path).exists()
    ]
    return [
        "Next:",
        f"  cd {shlex.quote(str(folder))}",
        *missing,
        "  pip install -e '.[test]'",
        f"  {launch(catalog, answers).train}",
        "  pytest",
    ]
