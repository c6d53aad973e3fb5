"""Suggestions for an unknown name: a feature, a choice, a package."""

import difflib
import re
from collections.abc import Collection, Iterator

from scaffold.answers.catalog import Catalog, Choice, Component, Feature, Option

MOST = 3  # suggestions


def suggest_settings(catalog: Catalog, key: str) -> list[str]:
    """What to write instead of a key that does not exist, as `--set` takes it; the best first."""
    name = _plain(key.removeprefix("features."))
    options = catalog.settings.values()
    found = [short_setting(catalog.features[name])] if name in catalog.features else []
    found += [option.key for option in options if option.key == f"features.{key}"]
    found += [option.key for option in options if option.name == name]
    found += [_setting(*pair) for pair in choices_named(catalog, name)]
    found += [short_setting(feature) for feature in _bringing(catalog, name)]
    if not found:
        found = difflib.get_close_matches(key, catalog.settings, n=MOST, cutoff=0.5)
    if not found and (near := difflib.get_close_matches(name, _names(catalog), n=1)):
        return suggest_settings(catalog, near[0])
    return list(dict.fromkeys(found))[:MOST]


def suggest_features(catalog: Catalog, name: str) -> list[str]:
    """Features that an unknown name may mean, the best match first, each with its setting."""
    name = _plain(name)
    found = []
    for option, choice in choices_named(catalog, name):
        setting = _setting(option, choice)
        feature = f"the feature {option.feature} ({setting})"
        found.append(feature if option.feature else f"the setting {setting}")
    found += [f"the feature {feature.name}" for feature in _bringing(catalog, name)]
    if found:
        return found[:MOST]
    if near := difflib.get_close_matches(name, catalog.features, n=1):
        return near
    near = difflib.get_close_matches(name, _names(catalog), n=1)
    return suggest_features(catalog, near[0]) if near else []


def choices_named(catalog: Catalog, name: str) -> Iterator[tuple[Option, Choice]]:
    """The choices with this value, then those that install a package of this name."""
    pairs = [(option, choice) for option in catalog.settings.values() for choice in option.choices]
    values = [(option, choice) for option, choice in pairs if _plain(choice.value) == name]
    yield from values
    for option, choice in pairs:
        if name in _packages(choice) and (option, choice) not in values:
            yield option, choice


def short_setting(feature: Feature) -> str:
    """The shortest setting that turns a feature on, or its key where any value will do."""
    if feature.switch:
        return f"{feature.switch}={feature.example}"
    return f"features.{feature.name}"


def packages(component: Component) -> set[str]:
    """The packages that a component or one of its choices installs."""
    choices = (choice for option in component.options for choice in option.choices)
    return _packages(component).union(*map(_packages, choices))


def _bringing(catalog: Catalog, name: str) -> list[Feature]:
    return [feature for feature in catalog.features.values() if name in _packages(feature)]


def _names(catalog: Catalog) -> set[str]:
    """The names for which there is a suggestion."""
    features = catalog.features.values()
    choices = [c for option in catalog.settings.values() for c in option.choices]
    return {
        *catalog.features,
        *(option.name for option in catalog.settings.values()),
        *(_plain(choice.value) for choice in choices),
    }.union(*map(_packages, features), *map(_packages, choices))


def _packages(part: Component | Choice) -> set[str]:
    rows: Collection[str] = part.dependencies
    return {_plain(re.split(r"[^\w.-]", row, maxsplit=1)[0]) for row in rows}


def _setting(option: Option, choice: Choice) -> str:
    return f"{option.key}={choice.value}"


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")
