"""The documentation says what the manifests say."""

import pytest
from pages import COMMAND, FOLDER, pages

from scaffold.answers.catalog import load_catalog

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_its_manifest_says(name: str) -> None:
    path = FOLDER / name
    assert path.is_file() and path.read_text() == PAGES[name], f"run `{COMMAND}`"


def test_no_page_is_left_over() -> None:
    found = {
        path.relative_to(FOLDER).as_posix()
        for kind in ("tasks", "features", "hardware")
        for path in FOLDER.glob(f"{kind}/*/README.md")
    }
    assert found == PAGES.keys() - {"FEATURES.md"}


def test_each_page_fits_a_screen_and_says_when_to_take_it() -> None:
    catalog = load_catalog()
    for component in [*catalog.tasks.values(), *catalog.features.values()]:
        assert 100 <= len(component.about) <= 3000, component.name
        assert len(component.help) <= 120 and not component.help.endswith("."), component.name
    assert len(PAGES) == len(catalog.tasks) + len(catalog.features) + 1
