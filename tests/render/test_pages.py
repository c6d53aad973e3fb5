"""The documentation says what the manifests say."""

import re
from pathlib import Path

import pytest

from pages import COMMAND, COMPARISON, FOLDER, compared, count_lines, pages
from scaffold.answers.catalog import MARK, read_about
from scaffold.answers.manifests import load_catalog
from scaffold.errors import TemplateError
from scaffold.render.pages import page_path
from support.combinations import in_turns
from support.files import replace_in
from support.rendering import render

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_its_manifest_says(name: str) -> None:
    path = FOLDER / name
    assert path.is_file() and path.read_text() == PAGES[name](), f"run `{COMMAND}`"


def test_no_page_is_left_over() -> None:
    found = {
        path.relative_to(FOLDER).as_posix()
        for kind in ("tasks", "features", "hardware")
        for path in FOLDER.glob(f"{kind}/*/README.md")
    }
    assert found == PAGES.keys() - {"FEATURES.md", "README.md"}


def test_each_page_fits_a_screen_and_says_when_to_take_it() -> None:
    catalog = load_catalog()
    for component in [*catalog.tasks.values(), *catalog.features.values()]:
        about = f"{page_path(component)} needs a text of its own above the mark"
        assert 100 <= len(read_about(component)) <= 3600, about
        assert len(component.help) <= 120 and not component.help.endswith("."), component.name
    assert len(PAGES) == len(catalog.tasks) + len(catalog.features) + 2


def test_what_is_written_by_hand_is_kept(templates: Path) -> None:
    page = templates / "features/ema/README.md"
    replace_in(page, "When to use it:", "By hand. When to use it:")
    ema = load_catalog(templates).features["ema"]
    assert "\n\nBy hand. When to use it: if the loss" in read_about(ema)
    page.write_text(page.read_text().replace(MARK, ""))
    with pytest.raises(TemplateError, match="a line is missing, below what is"):
        read_about(ema)
    page.unlink()
    assert read_about(ema) == ""


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
