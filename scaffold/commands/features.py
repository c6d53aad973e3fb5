"""`scaffold features`: lists tasks, features, recipes and settings."""

import re
import textwrap
from collections.abc import Iterator, Sequence

import typer

from scaffold.answers.catalog import Catalog, Component
from scaffold.answers.check import check, find_option
from scaffold.answers.manifests import load_catalog
from scaffold.answers.names import packages
from scaffold.answers.recipes import load_recipes, recipe_answers
from scaffold.answers.resolve import Answers, can_fit, is_on, resolve
from scaffold.answers.settings import describe, toml_literal
from scaffold.commands.screen import FRAMEWORKS, terminal_width
from scaffold.errors import ScaffoldError

KINDS = ("tasks", "features", "recipes", "frameworks", "settings")


def list_features(
    words: Sequence[str] = (),
    task: str | None = None,
    kind: str | None = None,
    on: bool | None = None,
) -> None:
    """Print tasks, features, recipes and settings.

    Without a filter, a line each, and only the names of settings. With one, what holds all
    `words`, goes with the `task`, is of this kind, and, with `on`, the features that are on (or
    off) by default. Raises ScaffoldError if nothing is left.
    """
    catalog = load_catalog()
    if not words and task is None and kind is None and on is None:
        typer.echo("\n".join(_overview(catalog)))
        return
    given: Answers = {"project.name": "example"}
    if task is not None:
        given["project.task"] = check(find_option(catalog, "project.task"), task)
    if kind is not None and kind not in KINDS:
        raise ScaffoldError(f"--kind {kind}: choose from {', '.join(KINDS)}.")
    tables = _tables(catalog, resolve(catalog, given), task, on)
    kind = kind or (None if on is None else "features")
    rows: list[str] = []
    for title, of_kind, lines in tables:
        kept = [line for line in lines if kind in (None, of_kind) and _holds(line, words)]
        if kept:
            rows += ["", title, *(row for name, text, _ in kept for row in _columns(name, text))]
    if not rows:
        raise ScaffoldError(
            f"nothing matches {' '.join(words) or 'that'}: `scaffold features` lists everything."
        )
    usage = "`scaffold explain NAME` explains one of them, and shows the lines that a feature adds."
    typer.echo("\n".join([*rows[1:], "", *_wrapped(usage, "", "")]))


def _overview(catalog: Catalog) -> Iterator[str]:
    """A line for each task, feature and recipe, and for each table of settings."""
    tasks, features = catalog.tasks.values(), sorted(catalog.features.values(), key=_name)
    settings = catalog.settings.values()
    hardware = [part for part in features if part.folder.parent.name == "hardware"]
    others = [part for part in features if part not in hardware]
    tables: dict[str, list[str]] = {}
    for option in settings:
        tables.setdefault(option.key.rpartition(".")[0], []).append(option.name)
    general = [name for name in catalog.plain_tables if name not in catalog.tasks]
    groups: dict[str, list[tuple[str, str]]] = {
        "Tasks": [(part.name, part.help) for part in tasks],
        "Features that are on by default": [(p.name, p.help) for p in others if p.default],
        "Features that are off by default": [(p.name, p.help) for p in others if not p.default],
        "Features for hardware and launchers": [(part.name, part.help) for part in hardware],
        "Recipes, for `scaffold new --recipe`": [
            (recipe.name, recipe.help) for recipe in load_recipes().values()
        ],
        "Tables of settings": [(name, ", ".join(tables[name])) for name in general],
    }
    for title, rows in groups.items():
        yield title
        yield from (_cut(f"  {name:<26}{text}") for name, text in rows)
        yield ""
    yield from _wrapped(
        "`scaffold explain NAME` explains one of them. `scaffold features WORD...` finds those "
        f"with these words, and `--kind settings` lists all {len(settings)} settings.",
        "",
        "",
    )


def _name(part: Component) -> str:
    return part.name


def _cut(line: str) -> str:
    """The line, up to the width of the terminal."""
    width = terminal_width()
    return line if width is None or len(line) <= width else f"{line[: width - 3].rstrip(' ,')}..."


_Line = tuple[tuple[str, ...], str, str]  # the columns before the text, the text, more to look in


def _tables(
    catalog: Catalog, defaults: Answers, task: str | None, on: bool | None
) -> Iterator[tuple[str, str, list[_Line]]]:
    """Title, kind and lines of each table."""
    tasks = [part for part in catalog.tasks.values() if task in (None, part.name)]
    yield "Tasks", "tasks", [_line(part) for part in tasks]
    parts = [
        feature
        for _, feature in sorted(catalog.features.items())
        if task is None or can_fit(feature, catalog.tasks[task])
    ]
    for is_default, state in ((True, "on"), (False, "off")):
        if on in (None, is_default):
            found = [_line(part) for part in parts if is_on(part, defaults) == is_default]
            yield f"Features that are {state} by default", "features", found
    recipes = [recipe for recipe in load_recipes().values() if _is_of(catalog, recipe.name, task)]
    lines: list[_Line] = [((f"{recipe.name:<30}",), recipe.help, "") for recipe in recipes]
    yield "Recipes, for `scaffold new --recipe`", "recipes", lines
    if task is None:
        lines = [
            ((f"{name:<30}",), f"leave {title}: migrate a script with `scaffold eject`", "")
            for name, title in FRAMEWORKS.items()
        ]
        yield "Frameworks that a script can leave", "frameworks", lines
    names = {part.name for part in parts}
    options = [
        option
        for option in catalog.settings.values()
        if task is None or (option.task in ("", task) and option.feature in ("", *names))
    ]
    lines = []
    for option in options:
        default = option.default if task is None else defaults[option.key]
        value = option.default_from or toml_literal(default)
        more = " ".join(package for choice in option.choices for package in choice.dependencies)
        lines.append(((f"{option.key:<42}", f"{value:<21} "), describe(option), more))
    yield "Settings, with their defaults and meaning", "settings", lines


def _line(part: Component) -> _Line:
    choices = (choice for option in part.options for choice in option.choices)
    more = [part.title, *packages(part), *(choice.value for choice in choices)]
    return (f"{part.name:<30}",), part.help, " ".join(more)


def _is_of(catalog: Catalog, recipe: str, task: str | None) -> bool:
    usual = catalog.base.option("task").default
    return task in (None, recipe_answers(catalog, recipe).get("project.task", usual))


def _holds(line: _Line, words: Sequence[str]) -> bool:
    text = " ".join([*line[0], *line[1:]]).lower()

    def found(word: str) -> bool:
        # three letters are in many words: `ci` does not mean "precision"
        start = r"(?<![a-z0-9])" if len(word) < 4 else ""
        return bool(re.search(start + re.escape(word.lower()), text))

    return all(map(found, words))


def _columns(columns: tuple[str, ...], text: str) -> list[str]:
    """A line of the list, broken where the terminal ends."""
    head = "  " + "".join(columns)
    width = terminal_width()
    if width is None or width - len(head) >= 30:
        return _wrapped(text, head, " " * len(head))
    return _wrapped(f"{' '.join(head.split())}: {text}", "  ", " " * 6)


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    width = terminal_width()
    if width is None:
        return [first + text]
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
