"""Reads the catalog: the manifests below `templates/`, with all of their faults named."""

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, TypeVar

from scaffold import __version__
from scaffold.answers.catalog import (
    HUB,
    Catalog,
    Choice,
    Component,
    Condition,
    Feature,
    Option,
    Shared,
    Task,
    Trait,
    Value,
    line_of,
)
from scaffold.cache import remember
from scaffold.errors import TemplateError

Kind = TypeVar("Kind", bound=Component)


def template_root() -> Path:
    """The folder of templates: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


@cache
def load_catalog(root: Path | None = None) -> Catalog:
    """Read all manifests below `root`.

    Raises TemplateError for one that can't be read, lacks a field, or has one too many.
    """
    root = root or template_root()
    base = root / "base" / "base.toml"
    hardware = root / "hardware" / "accelerate" / "hardware.toml"
    kinds: dict[type[Component], list[Path]] = {
        Task: sorted(root.glob("tasks/*/task.toml")),
        Feature: [
            *sorted(root.glob("features/*/feature.toml")),
            *sorted(root.glob("hardware/*/feature.toml")),
        ],
    }
    words, common = root / "traits.toml", root / "tasks" / "options.toml"
    manifests = [base, hardware, words, common]
    manifests += [path for paths in kinds.values() for path in paths]
    tables, texts = _parse(manifests)

    def read(kind: type[Kind]) -> dict[str, Kind]:
        usual = tables[common] if kind is Task else {}
        return {p.parent.name: _read(kind, p, tables[p], usual=usual) for p in kinds[kind]}

    _check_common(common, tables[common], [tables[path] for path in kinds[Task]])
    tasks, features = read(Task), read(Feature)
    traits = dict(_traits(words, tables[words]))
    for task in tasks.values():
        _check_traits(task, task.can_have, traits)
    for feature in features.values():
        _check_traits(feature, feature.needs, traits)
    shared = _read(Component, base, tables[base], tasks.values())
    others = {*tasks, *(choice.value for choice in shared.option("loop").choices)}
    for part in (*tasks.values(), *features.values()):
        _check_traits(part, part.dependencies_for.keys() - others, traits)
        for choice in (choice for option in part.options for choice in option.choices):
            _check_traits(part, choice.dependencies_for.keys() - others, traits)
    catalog = Catalog(
        base=shared,
        hardware=_read(Component, hardware, tables[hardware]),
        shared=tuple(
            Shared(folder.name, folder, folder / "README.md", folder.name, "")
            for folder in sorted(root.glob("shared/*"))
        ),
        traits=traits,
        tasks=tasks,
        features={name: features[name] for name in _order(features)},
    )
    _check_once(catalog, texts)
    return catalog


def _check_once(catalog: Catalog, texts: str) -> None:
    """Check what manifests say about each other, unless the same ones were checked before."""

    def check() -> str:
        from scaffold.answers.consistency import check_consistency

        check_consistency(catalog)
        return "good"

    remember(f"consistent {__version__}\n{texts}", check)


def _traits(manifest: Path, rows: Mapping[str, Any]) -> Iterator[tuple[str, Trait]]:
    """Each trait: its help, or a table of its help and what it writes."""
    for name, row in rows.items():
        given = {"help": row} if isinstance(row, str) else row
        try:
            yield name, Trait(name, **given)
        except TypeError:
            message = f"{name}: a text, or a table with help and writes"
            raise TemplateError(manifest, line_of(manifest, name), message) from None


def _check_traits(component: Component, names: Iterable[str], traits: Mapping[str, Trait]) -> None:
    for name in sorted(names):
        if name not in traits:
            line = line_of(component.manifest, f'"{name}"')
            raise TemplateError(component.manifest, line, f"there is no trait {name!r}")


def _check_common(
    manifest: Path, rows: Mapping[str, Mapping[str, Any]], tasks: Iterable[Mapping[str, Any]]
) -> None:
    """Check the settings that several tasks have. `tasks` is what their manifests say."""
    used = {name for task in tasks for name in task.get("options", ())}
    for name, row in rows.items():
        line = line_of(manifest, f"[{name}]")
        if name not in used:
            raise TemplateError(manifest, line, f"no task has an option {name!r}")
        for unknown in sorted(row.keys() - _OPTION_FIELDS):
            raise TemplateError(manifest, line, f"option {name!r}: unknown field {unknown!r}")


def _order(features: Mapping[str, Feature]) -> list[str]:
    """Names of features, those named in `after` first, otherwise in alphabetical order."""
    for feature in features.values():
        for name in (*feature.after, *feature.requires, *feature.conflicts):
            if name not in features:
                line = line_of(feature.manifest, f'"{name}"')
                raise TemplateError(feature.manifest, line, f"there is no feature {name!r}")
    sorter = TopologicalSorter({name: feature.after for name, feature in features.items()})
    try:
        sorter.prepare()
    except CycleError as error:
        cycle = error.args[1]
        manifest = features[cycle[0]].manifest
        message = f"'after' contains a cycle: {' -> '.join(reversed(cycle))}"
        raise TemplateError(manifest, line_of(manifest, "after"), message) from None
    order: list[str] = []
    ready: set[str] = set()
    while sorter.is_active():
        ready |= set(sorter.get_ready())
        name = min(ready)
        ready.remove(name)
        order.append(name)
        sorter.done(name)
    return order


def _parse(manifests: list[Path]) -> tuple[dict[Path, dict[str, Any]], str]:
    """What is in each manifest, and the text of all.

    It is kept as JSON, which is read in a fraction of the time.
    """
    texts = {}
    for path in manifests:
        try:
            texts[path] = path.read_text(encoding="utf-8")
        except OSError as error:
            raise TemplateError(path, 1, f"can't be read: {error.strerror}") from None

    def parse() -> str:
        tables = []
        for path, text in texts.items():
            try:
                tables.append(tomllib.loads(text))
            except tomllib.TOMLDecodeError as error:
                raise TemplateError(path, 1, f"is not valid TOML: {error}") from None
        return json.dumps(tables)

    every = json.dumps(list(texts.values()))
    tables = json.loads(remember(f"manifests {__version__}\n{every}", parse))
    return dict(zip(manifests, tables, strict=True)), every


# what every task says to its templates
TASK_VALUES = (
    *("subject", "metric", "higher_is_better", "target", "goal", "batch"),
    *("usage", "result", "hub_task"),
)
# what some say: `words` are values for their own templates
TASK_EXTRAS = ("command", "inputs", "words")
# how the rows of a manifest become the fields of a component; the others are taken as they are
_TUPLES = (
    *("dependencies", "metrics", "has", "needs", "on", "after", "requires", "conflicts"),
    "sets",
)
_LISTS = {"dependencies", "needs", "has", "lacks"}  # of a choice
_TUPLES_BY_NAME = ("dependencies_for", "excludes")


def _read(
    kind: type[Kind],
    manifest: Path,
    data: dict[str, Any],
    tasks: Iterable[Task] = (),
    usual: Mapping[str, Mapping[str, Any]] | None = None,
) -> Kind:
    """A component. `data` is what its manifest says, `usual` what options are if it does not."""
    name = manifest.parent.name
    given: dict[str, Any] = {"name": name, "folder": manifest.parent, "manifest": manifest}
    known = {row.name for row in fields(kind)} - given.keys() - {"reasons", "values"}
    values = {*TASK_VALUES, *TASK_EXTRAS} if kind is Task else set[str]()
    reason = {"reason"} if kind is Feature else set[str]()
    for unknown in sorted(data.keys() - known - values - reason):
        raise TemplateError(manifest, line_of(manifest, unknown), f"unknown field {unknown!r}")
    needed = [row.name for row in fields(kind) if row.default is row.default_factory is MISSING]
    needed = [row for row in needed if row not in given]
    needed += TASK_VALUES if kind is Task else ()
    needed += ["default"] if kind is Feature and "switch" not in data else []
    for missing in needed:
        if missing not in data:
            raise TemplateError(manifest, 1, f"the field {missing!r} is missing")
    if (choice := data.get("choice")) and choice not in data.get("options", {}):
        line = line_of(manifest, "choice")
        raise TemplateError(manifest, line, f"'choice' is not the name of an option: {choice}")
    if kind is Feature:
        given["reasons"] = _reasons(data)
    if kind is Task:
        given["values"] = {**data, **data.get("words", {})}
    for row in sorted(data.keys() & known & {*_TUPLES}):
        if not isinstance(data[row], list):
            raise TemplateError(manifest, line_of(manifest, f"{row} ="), f"{row!r} is a list")
    for row in sorted(data.keys() & known & {*_TUPLES_BY_NAME}):
        if not isinstance(data[row], dict) or not all(
            isinstance(v, list) for v in data[row].values()
        ):
            line = line_of(manifest, f"{row} =")
            raise TemplateError(manifest, line, f"{row!r} is a table of lists")
    read_options = _Options(manifest, kind, tuple(tasks), usual or {})
    given |= {field: _value(field, data[field], read_options) for field in known & data.keys()}
    return kind(**given)


def _value(field: str, value: Any, read_options: "_Options") -> Any:
    """What a row of a manifest becomes."""
    if field == "options":
        return tuple(read_options.read(name, dict(row)) for name, row in value.items())
    if field in _TUPLES:
        return tuple(value)
    if field in _TUPLES_BY_NAME:
        return {name: tuple(rows) for name, rows in value.items()}
    if field == "defaults":
        return dict(_flatten(value))
    if field == "defaults_with":
        return {choice: dict(_flatten(table)) for choice, table in value.items()}
    return value


def _reasons(part: dict[str, Any]) -> dict[str, str]:
    """The reason for each excluded setting: one for all of them, or a table."""
    reason = part.pop("reason", "")
    return dict.fromkeys(part.get("excludes", {}), reason) if isinstance(reason, str) else reason


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Value]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


class _Options:
    """Reads the options of a manifest."""

    def __init__(
        self,
        manifest: Path,
        kind: type[Component],
        tasks: tuple[Task, ...],
        usual: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.manifest, self.kind, self.tasks, self.usual = manifest, kind, tasks, usual
        name = manifest.parent.name
        self.table = {Feature: f"features.{name}", Task: name}.get(kind, "")

    def read(self, name: str, row: dict[str, Any]) -> Option:
        """An option. Raises TemplateError, with the line of the option."""

        def fault(message: str) -> TemplateError:
            line = line_of(self.manifest, f"[options.{name}]")
            return TemplateError(self.manifest, line, f"option {name!r}: {message}")

        if nameless := [choice for choice in row.get("choices", ()) if "value" not in choice]:
            raise fault(f"a choice has no value: {nameless[0]}")
        row = _with_usual(self.usual.get(name, {}), row)
        self._check(row, fault)
        _fill_in(row)
        choices = tuple(
            _choice(choice, fault) for choice in _like_others(row.pop("choices", ()), fault)
        )
        if name == "task" and self.tasks:
            choices = tuple(Choice(task.name, task.help) for task in self.tasks)
        if row["type"] == "choice" and row["default"] not in [choice.value for choice in choices]:
            raise fault("the default is not a choice")
        table = row.pop("table", self.table)
        row["named"] = row.pop("field", "")
        row["has"] = tuple(row.pop("has", ()))
        own = self.manifest.parent.name
        return Option(
            key=f"{table}.{name}",
            choices=choices,
            when=dict(_condition(table, *pair) for pair in row.pop("when", {}).items()),
            task=own if self.kind is Task else "",
            feature=own if self.kind is Feature else "",
            **row,
        )

    def _check(self, row: dict[str, Any], fault: Callable[[str], TemplateError]) -> None:
        for unknown in sorted(row.keys() - _OPTION_FIELDS):
            raise fault(f"unknown field {unknown!r}")
        if "table" not in row and not self.table:
            raise fault("the field 'table' is missing")
        if "default_from" in row:
            row.setdefault("default", "")
        for needed in ("default", "comment"):
            if needed not in row:
                common = f"; tasks/options.toml has only {', '.join(self.usual)}"
                raise fault(f"the field {needed!r} is missing{common if self.usual else ''}")
        for key, values in row.get("when", {}).items():
            if not isinstance(values, list) and [*values] != ["above"]:
                raise fault(f"when {key}: use a list of values, or a table with above")
        for choice in row.get("choices", ()):
            for one in sorted(_LISTS & choice.keys()):
                if not isinstance(choice[one], list):
                    raise fault(f"choice {choice['value']!r}: {one!r} is a list")


_OPTION_FIELDS = {one.name for one in fields(Option)} | {"table", "field"}
_OPTION_FIELDS -= {"key", "named", "task", "feature"}


def _with_usual(usual: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """An option, with what it does not say itself; of its choices, too."""
    known = {choice["value"]: choice for choice in usual.get("choices", ())}
    found = {**usual, **row}
    if "choices" in row:
        found["choices"] = [_merged(known.get(one["value"], {}), one) for one in row["choices"]]
    return found


def _fill_in(row: dict[str, Any]) -> None:
    """The type of an option's default, and what a path or a column may be, if it can't be empty."""
    row.setdefault("type", "choice" if "choices" in row else type(row["default"]).__name__)
    kind = row.get("path") or ("column" if "column" in row else "")
    if kind and row["default"] and "pattern" not in row:
        row |= {"pattern": ".+", "allowed": _ALLOWED.get(kind, "a path")}


_ALLOWED = {HUB: "a name or a path", "column": "the name of a column"}


def _like_others(
    rows: Iterable[dict[str, Any]], fault: Callable[[str], TemplateError]
) -> Iterator[dict[str, Any]]:
    """Choices, with what `like` takes over from another one above."""
    known: dict[str, dict[str, Any]] = {}
    for row in rows:
        like = row.get("like", "")
        if like and like not in known:
            raise fault(f"{row['value']!r} is like {like!r}, which is no choice above it")
        known[row["value"]] = _merged(known.get(like, {}), row)
        yield {name: value for name, value in known[row["value"]].items() if name != "like"}


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both tables, with the rows of the second where both have them."""
    tables = {
        name: _merged(below[name], row)
        for name, row in above.items()
        if isinstance(row, dict) and name in below
    }
    return {**below, **above, **tables}


def _choice(row: dict[str, Any], fault: Callable[[str], TemplateError]) -> Choice:
    if "help" not in row:
        raise fault(f"choice {row['value']!r}: the field 'help' is missing")
    return Choice(
        value=row.pop("value"),
        help=row.pop("help"),
        dependencies=tuple(row.pop("dependencies", ())),
        dependencies_for={
            trait: tuple(packages) for trait, packages in row.pop("dependencies_for", {}).items()
        },
        needs=tuple(row.pop("needs", ())),
        has=tuple(row.pop("has", ())),
        lacks=tuple(row.pop("lacks", ())),
        reasons=_reasons(row),
        excludes={key: tuple(values) for key, values in row.pop("excludes", {}).items()},
        defaults=dict(_flatten(row.pop("defaults", {}))),
        factors={key: float(x) for key, x in _flatten(row.pop("factors", {}))},
        values=row,
    )


def _condition(table: str, key: str, row: Any) -> tuple[str, Condition]:
    """The key, which stands alone where it is of the same table, and what its answer must be."""
    key = key if "." in key else f"{table}.{key}"
    if isinstance(row, dict):
        return key, Condition(above=row["above"])
    return key, Condition(tuple(row))
