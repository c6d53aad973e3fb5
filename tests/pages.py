"""The pages of documentation below templates/. `python tests/pages.py` writes them anew."""

from pathlib import Path

from scaffold.answers.catalog import load_catalog
from scaffold.render.pages import page_path, write_index, write_page

FOLDER = Path(__file__).parent.parent / "templates"
COMMAND = "python tests/pages.py"


def pages() -> dict[str, str]:
    """The text of each page, by its path below the templates."""
    catalog = load_catalog()
    components = [*catalog.tasks.values(), *catalog.features.values()]
    found = {page_path(component): write_page(catalog, component) for component in components}
    return {"FEATURES.md": write_index(catalog), **found}


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {len(pages())} pages to {FOLDER}")
