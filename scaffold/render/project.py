"""What is written to a new project's folder: the rendered files, and their pristine copy."""

from collections.abc import Mapping

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Value
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from scaffold.render.render import render_project


def build_project(catalog: Catalog, answers: Mapping[str, Value]) -> dict[str, str]:
    """The text of each file, by its path with '/' in it."""
    files = render_project(catalog, answers)
    return {PRISTINE: write_pristine(Pristine(__version__, answers, files)), **files}
