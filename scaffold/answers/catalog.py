"""What can be generated, as `manifests.py` reads it from the folders below `templates/`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

Value = bool | int | float | str


@dataclass(frozen=True)
class Choice:
    value: str
    help: str
    dependencies: tuple[str, ...] = ()
    dependencies_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by trait
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
    # a kind of data, as READERS in data.py has them, or hub
    path: str = ""
    # of these rows: a column of classes, of lists of them or of numbers, or several columns
    column: str = ""
    default_from: str = ""  # the key whose answer is this one's default
    config: bool = True  # a field of the script's Config
    finer: bool = False  # asked only if the user wants the advanced settings
    when: Mapping[str, Condition] = field(default_factory=dict)  # by key: what it exists beside
    refused: Mapping[str, str] = field(default_factory=dict)  # values that can't work: the reasons
    has: tuple[str, ...] = ()  # the traits that a task has if the answer is yes
    fixed: str = ""  # why a resumed run can't change it
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
    """A folder of templates: the base, the hardware, a task, a feature, or what tasks share."""

    name: str
    folder: Path
    manifest: Path
    title: str
    help: str
    options: tuple[Option, ...] = ()
    dependencies: tuple[str, ...] = ()
    # by trait, by task, or by loop
    dependencies_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # what a run writes to its output folder, for the README
    writes: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()  # names that its evaluation adds to the log, without the set's

    def option(self, name: str) -> Option:
        return next(option for option in self.options if option.name == name)


@dataclass(frozen=True)
class Shared(Component):
    """Code of several tasks, whose files state when they apply."""


@dataclass(frozen=True)
class Trait:
    """What several tasks, or choices of them, have in common: a word without code."""

    name: str
    help: str
    # what a run writes to its output folder, for the README
    writes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Task(Component):
    has: tuple[str, ...] = ()  # traits
    defaults: Mapping[str, Value] = field(default_factory=dict)  # by key, where they are others
    defaults_with: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)  # by KEY=VALUE
    values: Mapping[str, Any] = field(default_factory=dict)  # what templates may read

    @cached_property
    def usual(self) -> Mapping[str, Value]:
        """The answers to the settings of a task if nobody gives others."""
        return {part.key: self.defaults.get(part.key, part.default) for part in self.options}

    @cached_property
    def deciding_traits(self) -> tuple[Option, ...]:
        """The settings whose answers give the task traits, or take some from it."""
        return tuple(
            part
            for part in self.options
            if part.has or any(choice.has or choice.lacks for choice in part.choices)
        )

    @cached_property
    def can_have(self) -> frozenset[str]:
        """The traits of the task, and those that it has only with some answers."""
        return frozenset([*self.has, *(name for part in self.options for name, _ in part.traits)])

    @cached_property
    def always_has(self) -> frozenset[str]:
        """The traits of the task that no answer takes from it."""
        choices = (choice for option in self.options for choice in option.choices)
        return frozenset(self.has).difference(*(choice.lacks for choice in choices))


@dataclass(frozen=True)
class Feature(Component):
    needs: tuple[str, ...] = ()  # the traits of tasks that it goes with
    default: bool = False
    choice: str = ""  # the option that selects among its kinds
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
    files: Mapping[str, str] = field(default_factory=dict)  # what is in its files, for the README
    defaults: Mapping[str, Value] = field(default_factory=dict)  # by key, while it is on

    @cached_property
    def switch_key(self) -> str:
        """The key whose answer turns it on."""
        return self.switch or f"features.{self.name}.enabled"

    def is_on_with(self, value: Value) -> bool:
        """Whether this value of its switch turns it on."""
        return value in self.on if self.on else value != self.off


@dataclass(frozen=True)
class Catalog:
    base: Component
    hardware: Component
    shared: tuple[Shared, ...]
    traits: Mapping[str, Trait]
    tasks: Mapping[str, Task]
    features: Mapping[str, Feature]  # in the order in which their code is placed

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
    def usual(self) -> Mapping[str, Mapping[str, Value]]:
        """The defaults of all settings by task, without those that follow from choices."""
        options = self.settings.items()
        return {
            name: {key: task.defaults.get(key, option.default) for key, option in options}
            for name, task in self.tasks.items()
        }

    @cached_property
    def following(self) -> tuple[Option, ...]:
        """The settings whose default is the answer to another one."""
        return tuple(option for option in self.settings.values() if option.default_from)

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


PAGE = "README.md"  # of a task or a feature


def read_about(component: Task | Feature) -> str:
    """What its page says in one screen: what it does, when to take it, what it costs."""
    page = component.folder / PAGE
    if not page.is_file():
        return ""
    return page.read_text(encoding="utf-8").partition("\n\n")[2].strip()


def line_of(manifest: Path, text: str) -> int:
    """The number of the first line of a manifest that contains `text`, else 1.

    Of a key that is written in parts, such as `epochs` below `[defaults.training]`, the last one.
    """
    lines = manifest.read_text(encoding="utf-8").splitlines()
    for part in (text, text.rpartition(".")[2]):
        for number, line in enumerate(lines, start=1):
            if part and part in line:
                return number
    return 1
