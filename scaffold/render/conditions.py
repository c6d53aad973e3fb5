"""When lines of a template apply: `when OPTION=A|B with FEATURE without FEATURE`.

All parts must hold. OPTION is an option of the component whose template it is, or the key of any
setting, such as `features.lora.variant`. Its values are written as they are in scaffold.toml; a
text is `given` or `empty`. FEATURE is the name of a feature, or of a trait of the task.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scaffold.answers.catalog import Catalog, Component, Option, Shared, Value
from scaffold.answers.resolve import active_features, applies, traits

Words = tuple[str, ...]
_WORDS = ("when", "with", "without")


@dataclass(frozen=True)
class Test:
    """One part of a condition: a setting with its values, or a name and whether it must be on."""

    word: str
    name: str
    values: tuple[str, ...] = ()


def read_condition(words: Sequence[str]) -> Iterator[Test]:
    """The parts of a condition. Raises ValueError for words that are none."""
    word = ""
    for part in words:
        if part in _WORDS and word in ("", "done"):
            word = part
        elif word == "when" or (word == "done" and "=" in part):
            name, sign, values = part.partition("=")
            if not (name and sign and all(values.split("|"))):
                raise ValueError(f"{part!r} is not OPTION=VALUE")
            yield Test("when", name, tuple(values.split("|")))
            word = "done"
        elif word in ("with", "without"):
            yield Test(word, part)
            word = "done"
        else:
            raise ValueError(f"{part!r} is neither when, with nor without")
    if word not in ("", "done"):
        raise ValueError(f"nothing stands behind {word!r}")


def find_options(catalog: Catalog, component: Component, name: str) -> list[Option]:
    """The options that a condition means by a name: several where tasks share a template."""
    own = [option for option in component.options if option.name == name]
    if isinstance(component, Shared):  # the options of the task
        own = [o for task in catalog.tasks.values() for o in task.options if o.name == name]
    if own or name not in catalog.settings:
        return own
    return [catalog.settings[name]]


def fault(catalog: Catalog, component: Component, words: Sequence[str]) -> str:
    """What is wrong with a condition, or ''."""
    try:
        tests = list(read_condition(words))
    except ValueError as error:
        return str(error)
    for test in tests:
        if test.word != "when":
            if test.name not in catalog.features and test.name not in catalog.traits:
                return f"there is no feature and no trait {test.name!r}"
            continue
        options = find_options(catalog, component, test.name)
        if not options:
            return f"there is no option {test.name!r}"
        allowed = list(dict.fromkeys(value for one in options for value in possible_values(one)))
        for value in test.values if allowed else ():
            if value not in allowed:
                return f"{test.name} can't be {value!r}: it is one of {', '.join(allowed)}"
    return ""


def possible_values(option: Option) -> list[str]:
    """The values that a condition can name. Empty for a number: any."""
    if option.type == "choice":
        return [choice.value for choice in option.choices]
    return {"bool": ["true", "false"], "str": ["given", "empty"]}.get(option.type, [])


@dataclass(frozen=True)
class Situation:
    """The answers, as conditions ask for them."""

    catalog: Catalog
    answers: Mapping[str, Value]

    @cached_property
    def names(self) -> frozenset[str]:
        """The features that are on, and the traits of the task."""
        on = (feature.name for feature in active_features(self.catalog, self.answers))
        return frozenset([*on, *traits(self.catalog, self.answers)])

    @cached_property
    def _known(self) -> dict[tuple[Path, Words], bool]:
        return {}

    @cached_property
    def _options(self) -> dict[tuple[Path, str], list[Option]]:
        return {}

    def holds(self, component: Component, words: Words) -> bool:
        """Whether a condition, which is known to be valid, holds."""
        if not words:
            return True
        key = (component.manifest, words)
        if key not in self._known:
            self._known[key] = all(self._holds(component, test) for test in read_condition(words))
        return self._known[key]

    def _holds(self, component: Component, test: Test) -> bool:
        if test.word != "when":
            return (test.name in self.names) == (test.word == "with")
        task, key = self.answers["project.task"], (component.manifest, test.name)
        if key not in self._options:
            self._options[key] = find_options(self.catalog, component, test.name)
        for option in self._options[key]:
            if option.task in ("", task):
                holds = applies(self.catalog, option, self.answers)
                return holds and _written(option, self.answers[option.key]) in test.values
        return False


def _written(option: Option, value: Value) -> str:
    """A value as conditions write it."""
    if option.type == "str":
        return "given" if value else "empty"
    return str(value).lower() if option.type == "bool" else str(value)
