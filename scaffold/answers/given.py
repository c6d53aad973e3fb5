"""Answers given to a command: options, settings, an Accelerate file."""

from collections.abc import Mapping

from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.check import check, find_option, parse_setting
from scaffold.answers.resolve import Answers


def typed_answers(catalog: Catalog, settings: list[str], typed: Mapping[str, Value]) -> Answers:
    """The answers on the command line: options, then settings. Raises AnswerError."""
    answers = {key: check(find_option(catalog, key), value) for key, value in typed.items()}
    return answers | dict(parse_setting(catalog, setting) for setting in settings)


def hardware_answers(
    catalog: Catalog, accelerate_config: str | None, under: Answers, over: Answers
) -> Answers:
    """The answers in an Accelerate file, if there is one. Raises ScaffoldError."""
    if accelerate_config is None:
        return {}
    from scaffold.answers.accelerate_import import read_accelerate_config

    return read_accelerate_config(catalog, accelerate_config, under, over)
