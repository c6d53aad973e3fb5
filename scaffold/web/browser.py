"""The page for a new project, in a browser: what the worker of the exported page calls."""

import json
from collections.abc import Callable
from pathlib import Path

from scaffold import cache
from scaffold.answers.manifests import load_catalog
from scaffold.errors import ScaffoldError
from scaffold.web.page import Page

ORIGIN = Path(__file__).parent / "origin.json"  # which templates these are, as the export found


def start() -> Callable[[str, str], tuple[bool, str]]:
    """What answers a call: whether it was, and the answer in JSON or the reason."""
    kept: dict[str, str] = {}

    def remember(key: str, make: Callable[[], str]) -> str:
        if key not in kept:
            kept[key] = cache.remember(key, make)
        return kept[key]

    catalog = load_catalog()
    page = Page(catalog, remember, templates=json.loads(ORIGIN.read_text(encoding="utf-8")))

    def call(name: str, body: str) -> tuple[bool, str]:
        try:
            return True, json.dumps(page.call(name, json.loads(body)))
        except ScaffoldError as error:
            return False, str(error)

    return call
