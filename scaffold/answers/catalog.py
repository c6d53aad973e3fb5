"""What can be generated: the manifests below `templates/`, read into dataclasses.

A component is a folder with a manifest, `fragments/` (code for places in other files), and `files/`
(complete files); `OPTION/VALUE/` holds the same for a choice. The base, the hardware, each task,
each trait (what several tasks have in common) and each feature is one component.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from scaffold import __version__
from scaffold.cache import remember
from scaffold.errors import TemplateError

Value = bool | int | float | str
Kind = Literal["base", "hardware", "shared", "trait", "task", "feature"]


@dataclass(frozen=True)
class Choice:
    value: str
    help: str
    dependencies: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # the traits of tasks that it goes with
    has: tuple[str, ...] = ()  # the traits that a task has with it
    lacks: tuple[str, ...] = ()  # the traits that a task loses with it
    excludes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)  # key: values
    reasons: Mapping[str, str] = field(default_factory=dict)  # by key: why they can't be combined
    defaults: Mapping[str, Value] = field(default_factory=dict)  # by key, where they are others
    factors: Mapping[str, float] = field(default_factory=dict)  # by key: multiplies the default
    values: Mapping[str, Any] = field(default_factory=dict)  # of a task, where they are others


HUB = "hub"  # the `path` of an option that takes a name on the Hub, or a folder


def as_typed(value: Value) -> str:
    """A value as it is written after the = of a command-line setting."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Condition:
    """The answers to another setting with which an option exists."""

    values: tuple[Value, ...] = ()
    above: float | None = None

    def holds(self, value: Value) -> bool:
        if self.above is not None:
            return float(value) > self.above
        return value in self.values

    def __str__(self) -> str:
        if self.above is not None:
            return f" above {self.above:g}"
        return "=" + " or ".join(map(as_typed, self.values))


@dataclass(frozen=True)
class Option:
    """One setting: at once the question, the check, the key, the `Config` line and the comment."""

    key: str  # "training.epochs", "features.ema.decay"
    type: Literal["int", "float", "str", "bool", "choice"]
    default: Value
    comment: str
    question: str = ""  # without one, it is not asked
    choices: tuple[Choice, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    pattern: str = ""
    allowed: str = ""  # the pattern in words
    # of rows, tables, pairs, sentences, questions, texts, images or classes of them; or hub
    path: str = ""
    # of these rows: a column of classes, of lists of them or of numbers, or several columns
    column: str = ""
    default_from: str = ""  # the key whose answer is this one's default
    config: bool = True  # a field of the script's Config
    finer: bool = False  # asked only if the user wants the advanced settings
    when: Mapping[str, Condition] = field(default_factory=dict)  # by key: what it exists beside
    refused: Mapping[str, str] = field(default_factory=dict)  # values that can't work: the reasons
    has: tuple[str, ...] = ()  # the traits that a task has if the answer is yes
    accelerate: str = ""  # its path in accelerate.yaml, such as fsdp_config.fsdp_version
    task: str = ""  # the task that it belongs to, if any
    feature: str = ""  # the feature that it belongs to, if any
    named: str = ""  # the name in the script, where it is not that of the key

    @property
    def name(self) -> str:
        return self.key.rpartition(".")[2]

    @property
    def field(self) -> str:
        """The name in the script: that of the key, behind its feature's name if it has one."""
        if self.named:
            return self.named
        table, _, name = self.key.rpartition(".")
        feature = table.removeprefix("features.")
        return f"{feature}_{name}" if feature != table else name

    @property
    def table(self) -> str:
        return self.key.rpartition(".")[0]

    @property
    def traits(self) -> Iterator[tuple[str, Value]]:
        """Each trait that a task has with one of the answers, and that answer."""
        yield from ((trait, True) for trait in self.has)
        yield from ((trait, choice.value) for choice in self.choices for trait in choice.has)

    def giving(self, trait: str) -> list[Value]:
        """The answers with which a task has a trait."""
        return [value for name, value in self.traits if name == trait]

    def taking(self, trait: str) -> list[Value]:
        """The answers with which a task lacks a trait that it has otherwise."""
        return [choice.value for choice in self.choices if trait in choice.lacks]


@dataclass(frozen=True)
class Component:
    """A folder of templates."""

    name: str
    kind: Kind
    folder: Path
    manifest: Path
    title: str
    help: str
    about: str = ""  # one screen: what it does, when to take it, what it costs
    options: tuple[Option, ...] = ()
    dependencies: tuple[str, ...] = ()
    dependencies_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by trait
    files: Mapping[str, str] = field(default_factory=dict)  # what is in its files, for the README
    # what a run writes to its output folder, for the README
    writes: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()  # names that its evaluation adds to the log, without the set's
    # tasks only
    has: tuple[str, ...] = ()  # traits
    defaults: Mapping[str, Value] = field(default_factory=dict)  # by key, where they are others
    defaults_with: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)  # by KEY=VALUE
    values: Mapping[str, Any] = field(default_factory=dict)  # what templates may read
    # features only
    needs: tuple[str, ...] = ()  # the traits of tasks that it goes with
    default: bool = False
    choice: str = ""  # the option that selects among fragments/CHOICE/
    switch: str = ""  # the key that turns it on, if that is not features.NAME.enabled
    off: Value = False  # the value of the switch that turns it off
    on: tuple[Value, ...] = ()  # those that turn it on; empty: all others
    example: Value = True  # a value of the switch that turns it on
    after: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    excludes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)  # key: values
    reasons: Mapping[str, str] = field(default_factory=dict)  # by key: why they can't be combined
    sets: tuple[str, ...] = ()  # further sets that it evaluates: the beginnings of logged names
    minimal: bool = False  # whether it goes with the minimal loop
    logs_train_loss: bool = True  # whether an evaluation's metrics hold it beside this feature

    @cached_property
    def switch_key(self) -> str:
        """The key whose answer turns a feature on."""
        return self.switch or f"features.{self.name}.enabled"

    def is_on_with(self, value: Value) -> bool:
        """Whether this value of its switch turns a feature on."""
        return value in self.on if self.on else value != self.off

    def option(self, name: str) -> Option:
        return next(option for option in self.options if option.name == name)

    @cached_property
    def usual(self) -> Mapping[str, Value]:
        """The answers to the settings of a task if nobody gives others."""
        return {part.key: self.defaults.get(part.key, part.default) for part in self.options}

    @cached_property
    def deciding_traits(self) -> tuple[Option, ...]:
        """The settings of a task whose answers give it traits, or take some from it."""
        return tuple(
            part
            for part in self.options
            if part.has or any(choice.has or choice.lacks for choice in part.choices)
        )

    @cached_property
    def can_have(self) -> frozenset[str]:
        """The traits of a task, and those that it has only with some answers."""
        return frozenset([*self.has, *(name for part in self.options for name, _ in part.traits)])

    @cached_property
    def always_has(self) -> frozenset[str]:
        """The traits of a task that no answer takes from it."""
        choices = (choice for option in self.options for choice in option.choices)
        return frozenset(self.has).difference(*(choice.lacks for choice in choices))


@dataclass(frozen=True)
class Catalog:
    base: Component
    hardware: Component
    shared: tuple[Component, ...]  # code of several tasks, whose files state the conditions
    traits: Mapping[str, Component]
    tasks: Mapping[str, Component]
    features: Mapping[str, Component]  # in the order in which their code is placed

    @property
    def root(self) -> Path:
        """The folder of the templates."""
        return self.base.folder.parent

    @property
    def components(self) -> tuple[Component, ...]:
        return (self.base, self.hardware, *self.tasks.values(), *self.features.values())

    @cached_property
    def settings(self) -> Mapping[str, Option]:
        """All settings by their key, in the order of scaffold.toml."""
        options = [option for component in self.components for option in component.options]
        for feature in self.features.values():
            if not feature.switch:
                options.append(
                    Option(
                        key=feature.switch_key,
                        type="bool",
                        default=feature.default,
                        comment=feature.help,
                        question=feature.title,
                        config=False,
                        feature=feature.name,
                    )
                )
        places = {table: place for place, table in enumerate(self.tables)}
        options.sort(key=lambda option: (places[option.table], option.name != "enabled"))
        return {option.key: option for option in options}

    @cached_property
    def deciding(self) -> tuple[Option, ...]:
        """The settings with choices that change defaults, or that do not go with everything."""
        return tuple(
            option
            for option in self.settings.values()
            if any(c.defaults or c.factors or c.needs or c.excludes for c in option.choices)
        )

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of scaffold.toml, in their order."""
        features = (f"features.{name}" for name in self.features)
        return (*self.plain_tables, *features)

    @property
    def plain_tables(self) -> tuple[str, ...]:
        """Those that are not features. Hardware with settings of its own has a table for them."""
        usual = ("project", *self.tasks, "hardware")
        options = (option for feature in self.features.values() for option in feature.options)
        tables = {option.table for option in options}
        own = sorted(table for table in tables if "." not in table)
        return (*usual, *(table for table in own if table not in (*usual, "training")), "training")


def template_root() -> Path:
    """The folder of templates: inside the installed package, or beside it in a checkout."""
    package = Path(str(resources.files("scaffold")))
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


@cache
def load_catalog(root: Path | None = None) -> Catalog:
    """Read all manifests below `root`.

    Raises TemplateError for one that can't be read, lacks a field, or has one too many.
    """
    root = root or template_root()
    manifests: dict[Kind, list[Path]] = {
        "base": [root / "base" / "base.toml"],
        "hardware": [root / "hardware" / "accelerate" / "hardware.toml"],
        "trait": sorted(root.glob("traits/*/trait.toml")),
        "task": sorted(root.glob("tasks/*/task.toml")),
        "feature": [*root.glob("features/*/feature.toml"), *root.glob("hardware/*/feature.toml")],
    }
    tables = _parse([path for paths in manifests.values() for path in paths])

    def read(kind: Kind, tasks: Iterable[Component] = ()) -> dict[str, Component]:
        paths = manifests[kind]
        return {path.parent.name: _read(path, tables[path], kind, tasks) for path in paths}

    tasks, features, traits = read("task"), read("feature"), read("trait")
    for component in (*tasks.values(), *features.values()):
        for name in sorted({*component.can_have, *component.needs}):
            if name not in traits:
                line = line_of(component.manifest, f'"{name}"')
                raise TemplateError(component.manifest, line, f"there is no trait {name!r}")
    return Catalog(
        base=read("base", tasks.values())["base"],
        hardware=read("hardware")["accelerate"],
        shared=tuple(_shared(folder) for folder in sorted(root.glob("shared/*"))),
        traits=traits,
        tasks=tasks,
        features={name: features[name] for name in _order(features)},
    )


def _shared(folder: Path) -> Component:
    """Templates that several tasks share: they have no manifest."""
    return Component(folder.name, "shared", folder, folder / "README.md", folder.name, "")


def _order(features: Mapping[str, Component]) -> list[str]:
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


def line_of(manifest: Path, text: str) -> int:
    """The number of the first line of a manifest that contains `text`, else 1."""
    for number, line in enumerate(manifest.read_text(encoding="utf-8").splitlines(), start=1):
        if text in line:
            return number
    return 1


_COMMON = {"title", "help", "about", "dependencies", "options", "metrics", "writes"}
_FIELDS = {
    "base": _COMMON,
    "hardware": _COMMON,
    "trait": {"title", "help", "writes"},
    "task": _COMMON
    | {"subject", "metric", "higher_is_better", "target", "goal", "has", "defaults", "batch"}
    | {"defaults_with", "usage", "result", "command", "inputs", "words"},
    "feature": _COMMON
    | {"default", "choice", "switch", "off", "on", "example", "after", "requires", "conflicts"}
    | {
        "excludes",
        "reason",
        "needs",
        "sets",
        "logs_train_loss",
        "minimal",
        "dependencies_for",
        "files",
        "defaults",
    },
}
_OPTION_FIELDS = {"table", "type", "default", "question", "comment", "choices", "minimum"} | {
    "maximum", "above", "below", "pattern", "allowed", "default_from", "config", "finer", "when",
    "accelerate", "refused", "field", "path", "column", "has",
}  # fmt: skip


def _parse(manifests: list[Path]) -> dict[Path, dict[str, Any]]:
    """What is in each manifest. It is kept as JSON, which is read in a fraction of the time."""
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

    key = f"manifests {__version__}\n" + json.dumps(list(texts.values()))
    return dict(zip(manifests, json.loads(remember(key, parse)), strict=True))


def _read(
    manifest: Path, data: dict[str, Any], kind: Kind, tasks: Iterable[Component] = ()
) -> Component:
    for name in data.keys() - _FIELDS[kind]:
        raise TemplateError(manifest, line_of(manifest, name), f"unknown field {name!r}")
    needed = ["title", "help"]
    if kind == "task":
        needed += ["subject", "metric", "higher_is_better", "target", "goal"]
        needed += ["batch", "usage", "result"]
    needed += ["default"] if kind == "feature" and "switch" not in data else []
    for name in needed:
        if name not in data:
            raise TemplateError(manifest, 1, f"the field {name!r} is missing")
    if (choice := data.get("choice")) and choice not in data.get("options", {}):
        line = line_of(manifest, "choice")
        raise TemplateError(manifest, line, f"'choice' is not the name of an option: {choice}")
    name = manifest.parent.name
    table = {"feature": f"features.{name}", "task": name}.get(kind, "")
    return Component(
        name=name,
        kind=kind,
        folder=manifest.parent,
        manifest=manifest,
        title=data["title"],
        help=data["help"],
        options=tuple(
            _option(manifest, kind, table, option, dict(row), tasks)
            for option, row in data.get("options", {}).items()
        ),
        about=data.get("about", "").strip(),
        dependencies=tuple(data.get("dependencies", ())),
        dependencies_for={
            trait: tuple(rows) for trait, rows in data.get("dependencies_for", {}).items()
        },
        files=dict(data.get("files", {})),
        writes=dict(data.get("writes", {})),
        metrics=tuple(data.get("metrics", ())),
        has=tuple(data.get("has", ())),
        defaults=dict(_flatten(data.get("defaults", {}))),
        defaults_with={
            choice: dict(_flatten(table)) for choice, table in data.get("defaults_with", {}).items()
        },
        needs=tuple(data.get("needs", ())),
        default=data.get("default", False),
        choice=data.get("choice", ""),
        switch=data.get("switch", ""),
        off=data.get("off", False),
        on=tuple(data.get("on", ())),
        example=data.get("example", True),
        after=tuple(data.get("after", ())),
        requires=tuple(data.get("requires", ())),
        conflicts=tuple(data.get("conflicts", ())),
        excludes={key: tuple(values) for key, values in data.get("excludes", {}).items()},
        reasons=_reasons(data),
        sets=tuple(data.get("sets", ())),
        minimal=data.get("minimal", False),
        logs_train_loss=data.get("logs_train_loss", True),
        values={**data, **data.get("words", {})} if kind == "task" else {},
    )


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


def _condition(table: str, key: str, row: Any) -> tuple[str, Condition]:
    """The key, which stands alone where it is of the same table, and what its answer must be."""
    key = key if "." in key else f"{table}.{key}"
    if isinstance(row, dict):
        return key, Condition(above=row["above"])
    return key, Condition(tuple(row))


def _option(
    manifest: Path,
    kind: Kind,
    table: str,
    name: str,
    row: dict[str, Any],
    tasks: Iterable[Component],
) -> Option:
    def fault(message: str) -> TemplateError:
        line = line_of(manifest, f"[options.{name}]")
        return TemplateError(manifest, line, f"option {name!r}: {message}")

    for unknown in row.keys() - _OPTION_FIELDS:
        raise fault(f"unknown field {unknown!r}")
    if "table" not in row and not table:
        raise fault("the field 'table' is missing")
    if "default_from" in row:
        row.setdefault("default", "")
    for needed in ("type", "default", "comment"):
        if needed not in row:
            raise fault(f"the field {needed!r} is missing")
    choices = tuple(
        Choice(
            value=choice.pop("value"),
            help=choice.pop("help"),
            dependencies=tuple(choice.pop("dependencies", ())),
            needs=tuple(choice.pop("needs", ())),
            has=tuple(choice.pop("has", ())),
            lacks=tuple(choice.pop("lacks", ())),
            reasons=_reasons(choice),
            excludes={key: tuple(values) for key, values in choice.pop("excludes", {}).items()},
            defaults=dict(_flatten(choice.pop("defaults", {}))),
            factors={key: float(x) for key, x in _flatten(choice.pop("factors", {}))},
            values=choice,
        )
        for choice in map(dict, row.pop("choices", ()))
    )
    if name == "task" and tasks:
        choices = tuple(Choice(task.name, task.help) for task in tasks)
    if row["type"] == "choice" and row["default"] not in [choice.value for choice in choices]:
        raise fault("the default is not a choice")
    table = row.pop("table", table)
    row["named"] = row.pop("field", "")
    row["has"] = tuple(row.pop("has", ()))
    return Option(
        key=f"{table}.{name}",
        choices=choices,
        when=dict(_condition(table, *pair) for pair in row.pop("when", {}).items()),
        task=manifest.parent.name if kind == "task" else "",
        feature=manifest.parent.name if kind == "feature" else "",
        **row,
    )
