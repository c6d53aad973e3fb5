"""The documentation says what the manifests say."""

import re

import pytest

from pages import COMMAND, COMPARISON, FOLDER, compared, count_lines, pages
from scaffold.answers.catalog import read_about
from scaffold.answers.manifests import load_catalog
from scaffold.render.pages import page_path, write_page
from support.combinations import in_turns
from support.rendering import render

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_list_is_what_the_manifests_say(name: str) -> None:
    path = FOLDER / name
    assert path.is_file() and path.read_text() == PAGES[name](), f"run `{COMMAND}`"


def test_each_page_has_its_title_and_fits_a_screen() -> None:
    catalog = load_catalog()
    components = [*catalog.tasks.values(), *catalog.features.values()]
    for component in components:
        page = FOLDER / page_path(component)
        assert page.read_text(encoding="utf-8").startswith(f"# {component.title}\n\n"), page
        assert 100 <= len(read_about(component)) <= 3600, page
        assert len(component.help) <= 120 and not component.help.endswith("."), component.name
    kinds = ("tasks", "features", "hardware")
    found = {path for kind in kinds for path in FOLDER.glob(f"{kind}/*/README.md")}
    assert found == {FOLDER / page_path(component) for component in components}


def test_a_page_says_when_to_take_it_and_lists_the_settings() -> None:
    catalog = load_catalog()
    page = write_page(catalog, catalog.features["ema"])
    setting = page.index("| `features.ema.decay` | `0.99` |")
    assert page.index("When to use it: if the loss") < setting


@pytest.mark.parametrize("row", in_turns(compared(), 4), ids=lambda row: row.split("`")[1])
def test_the_comparison_counts_our_lines(row: str) -> None:
    """A rival's are counted by hand."""
    counts = [f"{count_lines(render(given)):,}" for given in compared()[row]]
    assert row.endswith(f" | {' | '.join(counts)} |"), f"run `{COMMAND}`"


def test_each_note_of_the_comparison_is_there_and_used() -> None:
    page = (FOLDER / COMPARISON).read_text(encoding="utf-8")
    assert len(compared()) >= 11
    notes = re.findall(r"^(\d+)\. ", page, re.MULTILINE)
    assert notes == [str(number) for number in range(1, len(notes) + 1)]
    assert set(re.findall(r"\[(\d+)\]", page)) == set(notes)
