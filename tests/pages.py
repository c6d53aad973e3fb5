"""The lists and counts in the documentation of templates/, which `python tests/pages.py` writes."""

import re
from collections.abc import Callable, Mapping
from functools import partial

from scaffold.answers.catalog import Catalog
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import Answers, resolve
from scaffold.render.check import read_all
from scaffold.render.duties import tell_duties
from scaffold.render.pages import write_index
from scaffold.render.project import render_project
from support.paths import TEMPLATES

FOLDER = TEMPLATES
COMMAND = "python tests/pages.py"


def pages() -> dict[str, Callable[[], str]]:
    """What writes each list, by its path below the templates."""
    catalog = load_catalog()
    return {"FEATURES.md": partial(write_index, catalog), README: partial(write_readme, catalog)}


README = "README.md"  # written by hand, but for two tables


def write_readme(catalog: Catalog) -> str:
    """How to write templates, with the traits, and what a task has to bring."""
    text = (FOLDER / README).read_text(encoding="utf-8")
    rows = [f"| `{name}` | {trait.help} |" for name, trait in sorted(catalog.traits.items())]
    text = _put(text, "traits", ["| trait | a task has it with |", "| --- | --- |", *rows])
    rows = [
        f"| {owner} | `{file}` | {', '.join(f'`{slot}`' for slot in slots)} |"
        for (owner, file), slots in tell_duties(catalog, read_all(catalog)).items()
    ]
    head = ["| with | a task fills in | the slots |", "| --- | --- | --- |"]
    return _put(text, "duties", [*head, *rows])


def _put(text: str, name: str, rows: list[str]) -> str:
    """The text with these rows between the marks of this name."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = text.partition(start)
    table = "\n".join(rows)
    return f"{before}{start}{table}\n{end}{rest.partition(end)[2]}"


COMPARISON = "COMPARISON.md"  # written by hand, but for the lines of our projects
USUAL = ("pretrained", "huggingface")  # choices of our projects in it, where a task has them
COUNTS = re.compile(r"(?<=\| )[\d,]+ \| [\d,]+(?= \|$)", re.MULTILINE)  # in the last two cells


def compared() -> dict[str, tuple[Answers, Answers]]:
    """The answers of both our projects in each row of the comparison that has numbers of them.

    Both have a pretrained model and data of the Hub, if the task has such choices and the row names
    no others: the first has the default features, the second two of these. A row is found by its
    text.
    """
    catalog = load_catalog()
    rest = [
        feature.switch_key
        for feature in catalog.features.values()
        if feature.default is True and feature.name not in ("checkpoints", "schedule")
    ]
    found = {}
    for row in (FOLDER / COMPARISON).read_text(encoding="utf-8").splitlines():
        if COUNTS.search(row):
            ours = row.split(" | ")[5]
            task, *more = re.findall(r"`([^`]*)`", ours.split(":")[0])
            given: Answers = {"project.task": task}
            for option in catalog.tasks[task].options:
                for choice in option.choices:
                    if choice.value in USUAL:
                        given[option.key] = choice.value
            for setting in more:
                key, value = setting.split("=")
                given[key if "." in key else f"{task}.{key}"] = value == "true" or value
            found[row] = (given, given | dict.fromkeys(rest, False))
    return found


def count_lines(files: Mapping[str, str]) -> int:
    """Lines of a project's Python files, without its tests."""
    code = [name for name in files if name.endswith(".py") and not name.startswith("tests/")]
    return sum(len(files[name].splitlines()) for name in code)


def write_comparison() -> None:
    """Puts the lines of our projects into the comparison."""
    catalog, path = load_catalog(), FOLDER / COMPARISON
    text = path.read_text(encoding="utf-8")
    for row, both in compared().items():
        answers = [resolve(catalog, {"project.name": "example", **given}) for given in both]
        counts = [f"{count_lines(render_project(catalog, some)):,}" for some in answers]
        text = text.replace(row, COUNTS.sub(" | ".join(counts), row))
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    for name, write in pages().items():
        (FOLDER / name).write_text(write(), encoding="utf-8", newline="\n")
    write_comparison()
    print(f"wrote {', '.join([*pages(), COMPARISON])}")
