"""The last step of rendered Python: its names are checked, and black formats it."""

from collections.abc import Callable, Sequence
from functools import cache

from scaffold import __version__
from scaffold.render.imports import LINE_LENGTH
from scaffold.render.places import Line
from scaffold.render.validate import check_names

# what was made for a key before, or what is made now
Remember = Callable[[str, Callable[[], str]], str]


def finish(
    name: str, text: str, origins: Sequence[Line], unformatted: bool, remember: Remember
) -> str:
    """The text as it is written. Raises TemplateError for what `check_names` finds.

    Both steps take most of a command's time, and most files come out the same in the next one:
    `remember` may keep what comes out.
    """

    def make() -> str:
        check_names(name, text, origins)
        return _format(text) if unformatted else text

    return remember(f"{__version__} {black_version()} {name} {unformatted}\n{text}", make)


def make_anew(key: str, make: Callable[[], str]) -> str:
    """Remembers nothing."""
    return make()


@cache
def black_version() -> str:
    """Of the black that is installed. To import it, or to read its metadata, takes long."""
    try:
        from _black_version import version  # type: ignore[import-untyped]
    except ImportError:  # a black that keeps it elsewhere
        from importlib import metadata

        return metadata.version("black")
    return str(version)


def _format(text: str) -> str:
    import black
    from black.mode import TargetVersion

    mode = black.Mode({TargetVersion.PY311}, line_length=LINE_LENGTH)
    return black.format_str(text, mode=mode)
