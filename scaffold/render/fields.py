"""The code that manifests bring: fields of Config, their limits, and what a resume can't change."""

import math
from collections.abc import Iterable, Iterator, Mapping

from scaffold.answers.catalog import Catalog, Component, Option, Value, line_of
from scaffold.answers.resolve import LOOP, applies
from scaffold.errors import TemplateError
from scaffold.render.imports import LINE_LENGTH
from scaffold.render.places import Directive, Fragment, Line, Part
from scaffold.render.templates import coded_values
from scaffold.render.values import python_literal

_USUAL = (0, math.inf)  # the limits of a number that config.py assumes


def config_fields(
    components: Iterable[Component], catalog: Catalog, answers: Mapping[str, Value]
) -> dict[str, Fragment]:
    """Code for config.py, a field for each setting that the scripts read and its limits, and for
    checkpoint.py, the settings that a resumed run can't change.

    The minimal loop has its Config in train.py, and nothing else. Raises TemplateError for limits
    that config.py can't express.
    """
    fields: list[Line] = []
    limits: list[Line] = []
    fixed: list[Line] = []
    for component in components:
        for option in component.options:
            if option.config and applies(catalog, option, answers):
                fields += _field(component, option, answers[option.key])
                limits += _limits(component, option)
                if option.fixed:
                    fixed.append(_line(component, option, f'"{option.field}": "{option.fixed}",'))
    base = catalog.base
    chosen = any("Literal[" in line.text for line in fields)
    imports = ["from typing import Literal"] if chosen else []
    config = _fragment(base, "config", fields, *imports)
    if answers[LOOP] == "minimal":
        return {"train.py": config}
    places = (*config.parts, *_fragment(base, "limits", limits).parts)
    return {
        "config.py": Fragment(config.imports, places),
        "checkpoint.py": _fragment(base, "fixed", fixed),
    }


def _fragment(component: Component, slot: str, lines: list[Line], *imports: str) -> Fragment:
    origin = Line(f"#: slot {slot}", component.manifest, 1)
    part = Part(Directive(origin, 0, "slot", slot), tuple(lines))
    return Fragment(tuple(origin._replace(text=text) for text in imports), (part,))


def _line(component: Component, option: Option, text: str) -> Line:
    return Line(text, component.manifest, line_of(component.manifest, f"[options.{option.name}]"))


def _limits(component: Component, option: Option) -> Iterator[Line]:
    """The limits of a number, where they are not the usual ones."""
    if option.type not in ("int", "float"):
        return
    if option.above is not None or option.below is not None:
        line = _line(component, option, "")
        raise TemplateError(line.path, line.number, "Config has only minimum and maximum")
    low = -math.inf if option.minimum is None else option.minimum
    high = math.inf if option.maximum is None else option.maximum
    if (low, high) != _USUAL:
        yield _line(component, option, f'"{option.field}": ({low}, {high}),')


def _field(component: Component, option: Option, value: Value) -> Iterator[Line]:
    """One field with its comment, which goes above it where the line would be too long."""
    # code for a choice is only rendered if it is the answer
    coded = coded_values(component, option.name) if option.choices else ()
    values = ", ".join(
        python_literal(choice.value)
        for choice in option.choices
        if choice.value == value or choice.value not in coded
    )
    kind = f"Literal[{values}]" if option.type == "choice" else option.type
    head, comment = f"{option.field}: {kind} = ", f"# {option.comment}"
    field = f"{head}{{{{ {option.key} | python }}}}"
    rows = [f"{field}  {comment}"]
    if len(f"    {head}{python_literal(value)}  {comment}") > LINE_LENGTH:
        rows = [comment, field]
    return (_line(component, option, row) for row in rows)
