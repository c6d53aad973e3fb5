"""Single answers: what a setting allows, and what somebody typed."""

import difflib
import math
import re

from scaffold.answers.catalog import Catalog, Feature, Option, Value
from scaffold.answers.names import suggest_features, suggest_settings
from scaffold.errors import AnswerError, ScaffoldError

BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def check(option: Option, value: object) -> Value:
    """The value in the option's type. Raises AnswerError if it is not allowed."""
    shown = f"{value!r} is not allowed"
    if option.type == "bool":
        if isinstance(value, bool):
            return value
        raise AnswerError(option.key, f"{shown}: use true or false.")
    if option.type in ("int", "float"):
        return _number(option, value)
    if not isinstance(value, str):
        raise AnswerError(option.key, f"{shown}: use text in quotes.")
    if option.type == "choice":
        values = [choice.value for choice in option.choices]
        if value in option.refused:
            raise AnswerError(
                option.key, f"{value} {option.refused[value]}: choose from {', '.join(values)}."
            )
        if value not in values:
            near = difflib.get_close_matches(value, values, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise AnswerError(option.key, f"{shown}: choose from {', '.join(values)}.{hint}")
        return value
    if not value.isprintable():  # other characters would break a file or a log line
        raise AnswerError(option.key, f"{shown}: use one line of printable text.")
    if option.pattern and not re.fullmatch(option.pattern, value):
        raise AnswerError(option.key, f"{shown}: use {option.allowed}.")
    return value


def allowed_numbers(option: Option) -> str:
    """What a setting that is a number can be, in words."""
    kind = "a whole number" if option.type == "int" else "a number"
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (
            ("at least", option.minimum),
            ("above", option.above),
            ("at most", option.maximum),
            ("below", option.below),
        )
        if bound is not None
    ]
    return ", ".join([kind, " and ".join(bounds)]) if bounds else kind


def _number(option: Option, value: object) -> Value:
    allowed = f"use {allowed_numbers(option)}."
    wrong_type = isinstance(value, bool) or not isinstance(value, (int, float))
    if wrong_type or (option.type == "int" and not isinstance(value, int)):
        raise AnswerError(option.key, f"{value!r} is not allowed: {allowed}")
    assert isinstance(value, (int, float))
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an int above all floats
        finite = False
    inside = (
        finite
        and (option.minimum is None or value >= option.minimum)
        and (option.maximum is None or value <= option.maximum)
        and (option.above is None or value > option.above)
        and (option.below is None or value < option.below)
    )
    if not inside:
        raise AnswerError(option.key, f"{value!r} is not allowed: {allowed}")
    return float(value) if option.type == "float" else value


def parse_text(option: Option, text: str) -> Value:
    """The value that a user typed. Raises AnswerError if it is not allowed."""
    value: object = text
    if option.type == "bool":
        value = BOOLEANS.get(text.lower(), text)
    elif option.type in ("int", "float"):
        try:
            value = int(text) if option.type == "int" else float(text)
        except (ValueError, OverflowError):
            value = text
    return check(option, value)


def parse_setting(catalog: Catalog, setting: str) -> tuple[str, Value]:
    """Key and value of `--set KEY=VALUE`. Raises ScaffoldError."""
    key, equals, text = setting.partition("=")
    if not equals:
        raise ScaffoldError(f"--set {setting}: write KEY=VALUE, such as training.epochs=5.")
    key = key.strip()
    if (feature := catalog.features.get(key.removeprefix("features."))) and key.startswith("fea"):
        key = short_key(feature, text)
    option = find_option(catalog, key)
    return key, parse_text(option, text)


def short_key(feature: Feature, text: str) -> str:
    """The key that `features.NAME` is short for, with this value."""
    if feature.switch:
        raise AnswerError(
            f"features.{feature.name}",
            f"is turned on by {feature.switch}, such as {feature.switch}={feature.example}.",
        )
    if feature.choice and text.lower() not in BOOLEANS:
        return feature.option(feature.choice).key
    return feature.switch_key


def find_option(catalog: Catalog, key: str) -> Option:
    """The setting with this key. Raises AnswerError that suggests similar keys."""
    options = catalog.settings
    if key in options:
        return options[key]
    near = suggest_settings(catalog, key)
    hint = (
        f"did you mean {' or '.join(near)}?"
        if near
        else "`scaffold features --kind settings` lists them."
    )
    raise AnswerError(key or "''", f"there is no such setting; {hint}")


def find_feature(catalog: Catalog, name: str) -> Feature:
    """The feature with this name. Raises ScaffoldError that suggests similar names."""
    name = name.removeprefix("features.")
    if name in catalog.features:
        return catalog.features[name]
    near = suggest_features(catalog, name)
    hint = (
        f"did you mean {' or '.join(near)}?"
        if near
        else f"the features are {', '.join(catalog.features)}."
    )
    raise ScaffoldError(f"there is no feature {name!r}: {hint}")
