"""Everything that is written to a project's folder: the rendered files, and their pristine copy."""

import json
from collections.abc import Mapping

from scaffold import __version__
from scaffold.catalog import Catalog, Value
from scaffold.render import render_project

PRISTINE = ".scaffold/pristine.json"


def build_project(catalog: Catalog, answers: Mapping[str, Value]) -> dict[str, str]:
    """The text of each file, by its path with '/' in it."""
    files = render_project(catalog, answers)
    pristine = {
        "about": "The files as they were generated. Later updates start from them: commit this.",
        "version": __version__,
        "answers": answers,
        "files": files,
    }
    text = json.dumps(pristine, indent=1, ensure_ascii=False) + "\n"
    return {PRISTINE: text, **files}
