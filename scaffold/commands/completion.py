"""What the shell completes: features, tasks, recipes, keys and values, each with its help."""

import os
import textwrap
from collections.abc import Callable, Iterable, Iterator

from scaffold.answers.catalog import Catalog, Component, Option, as_typed
from scaffold.answers.manifests import load_catalog
from scaffold.answers.names import short_setting
from scaffold.answers.recipes import load_recipes
from scaffold.commands.screen import FRAMEWORKS

Found = Iterator[tuple[str, str]]  # each completion, and its help
_WIDTH = 60  # of a help: fish would take the rest of a broken line for another completion

_key = ""  # bash completes only the text after a '=': this is the text before it


def prepare_bash() -> None:
    """Join what bash splits at each '='.

    Only the value is completed; `_settings` reads the key from here.
    """
    global _key
    line, current = os.environ["COMP_WORDS"], int(os.environ["COMP_CWORD"])
    between = "\n" if "\n" in line else " "
    words = line.split(between)
    joined: list[str] = []
    broken = False
    for place, word in enumerate(words[: current + 1]):
        broken = place > 0 and "=" in (word, words[place - 1])
        if broken:
            joined[-1] += word
        else:
            joined.append(word)
    last = joined[-1] if len(words) > current else ""
    if last.startswith("--") and last.count("=") > 1:
        joined[-1:] = last.split("=", 1)
        last = joined[-1]
    if broken and not last.startswith("-"):
        key, _, joined[-1] = last.rpartition("=")
        _key = f"{key}="
    os.environ["COMP_WORDS"] = between.join(joined)
    os.environ["COMP_CWORD"] = str(len(joined) - (len(words) > current))


def complete(what: str, word: str, *given: str) -> list[tuple[str, str]]:
    """What can stand in the place of a word: settings, choices of a key, features, ..."""
    finders: dict[str, Callable[..., Found]] = {
        "settings": lambda: _settings(word),
        "choices": lambda key: _values(load_catalog(), key),
        "features": lambda: _components(load_catalog().features.values()),
        "recipes": _recipes,
        "names": _names,
    }
    found = finders[what](*given)
    return [(name, textwrap.shorten(help, _WIDTH, placeholder="...")) for name, help in found]


def _settings(incomplete: str) -> Found:
    """KEY=VALUE; in bash only the value if the key stands there already."""
    key, equals, _ = f"{_key}{incomplete}".partition("=")
    catalog = load_catalog()
    keys = dict(_keys(catalog))
    found = [name for name in keys if name.startswith(key)]
    if not equals and len(found) > 1:
        yield from ((f"{name}=", keys[name]) for name in found)
    elif equals or found:
        name = key if equals else found[0]
        for value, help in _values(catalog, name):
            yield f"{name}={value}".removeprefix(_key), help or keys[name]


def _recipes() -> Found:
    return ((recipe.name, recipe.help) for recipe in load_recipes().values())


def _names() -> Found:
    """Everything that `scaffold explain` knows."""
    catalog = load_catalog()
    yield from _components(catalog.tasks.values())
    yield from _components(catalog.features.values())
    yield from _recipes()
    yield "accelerate", "one loop with and without Accelerate"
    for name, title in FRAMEWORKS.items():
        yield name, f"a script for {title}, and its loop in the open"
    yield "memory", "how the memory of training is estimated"
    yield from ((option.key, option.comment) for option in catalog.settings.values())


def _components(components: Iterable[Component]) -> Found:
    return ((part.name, part.help) for part in components)


def _keys(catalog: Catalog) -> Found:
    """All keys, and the short ones that turn a feature on."""
    for feature in catalog.features.values():
        if not feature.switch:
            yield short_setting(feature), feature.help
    yield from ((option.key, option.comment) for option in catalog.settings.values())


def _values(catalog: Catalog, key: str) -> Found:
    feature = catalog.features.get(key.removeprefix("features."))
    if feature and not feature.switch and key.startswith("features."):
        yield from (("true", feature.help), ("false", "without it"))
        if feature.choice:
            yield from _choices(feature.option(feature.choice))
    elif option := catalog.settings.get(key):
        yield from _choices(option)


def _choices(option: Option) -> Found:
    if option.type == "bool":
        yield from (("true", option.comment), ("false", ""))
    elif option.choices:
        yield from ((choice.value, choice.help) for choice in option.choices)
    elif option.default != "":
        yield as_typed(option.default), "the default"
