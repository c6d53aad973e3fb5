"""`scaffold explain --sources`: where each line of a project comes from."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from examples import examples
from scaffold.answers.check import parse_setting
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.cache import remember
from scaffold.render.origins import trace
from support.combinations import in_turns
from support.command_line import Cli
from support.files import replace_in
from support.paths import TEMPLATES


@cache
def rows_of(template: str) -> list[str]:
    return (TEMPLATES / template).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", in_turns(sorted(examples(), key="everything".__ne__), 4))
def test_each_line_of_an_example_is_traced(name: str) -> None:
    """To a line of a template that holds the same words, but for the values of answers."""
    catalog = load_catalog()
    given = dict(parse_setting(catalog, setting) for setting in examples()[name])
    answers = resolve(catalog, {"project.name": name, **given})
    lines, literal = 0, 0
    project = trace(catalog, answers, remember)
    for file, text in project.files.items():
        traced = project.rows(file)
        assert "".join(f"{row}\n" for row, _ in traced) == text
        for row, origins in traced:
            assert origins, f"{file}: {row}"
            templates = [rows_of(origin.template)[origin.line - 1] for origin in origins]
            lines += 1
            words = set(re.findall(r"\w+", row))
            known = {word for line in templates for word in re.findall(r"\w+", line)}
            filled = any(sign in line for line in templates for sign in ("{{", "{%", "[options"))
            code = file.endswith(".py") and origins[0].template.endswith(".py")
            imported = any(re.match("import |from ", line) for line in (row, *templates))
            if code and words and not filled and not imported:
                assert words <= known, f"{file}: {row!r} does not come from {templates}"
                literal += 1
    assert literal > lines / 5 > 50


def test_a_condition_is_told(cli: Cli) -> None:
    settings = ["--set", "image_classification.dataset=csv", "--set", "features.ema=true"]
    result = cli("explain", "--sources", "train.py", *settings)
    assert result.code == 0, result.err
    rows = [row for row in result.out.splitlines() if "ema.update()" in row]
    assert len(rows) == 1 and rows[0].startswith("features/ema/train.py:")
    assert "with ema" in rows[0].partition("|")[0]
    result = cli("explain", "--sources", "data.py", "--json", *settings)
    found = json.loads(result.out)
    assert found["file"] == "data.py"
    conditions = {one["condition"] for row in found["lines"] for one in row["origins"]}
    assert any("dataset=csv" in condition for condition in conditions)
    assert [row["line"] for row in found["lines"]] == list(range(1, len(found["lines"]) + 1))


def test_an_import_comes_with_what_uses_it(cli: Cli) -> None:
    """With the condition of the one place that does, or else of its file."""
    settings = ["--set", "features.schedule.kind=cosine", "--set", "features.ema=true"]
    result = cli("explain", "--sources", "train.py", *settings)
    assert result.code == 0, result.err
    rows = (row.partition("|") for row in result.out.splitlines())
    found = {row.strip(): origin for origin, _, row in rows}
    for row, condition in {
        "from math import cos, pi": "with schedule when kind=cosine",
        "from callbacks import Ema": "with ema",
        "from itertools import islice": "when loop=complete",
    }.items():
        assert found[row].rstrip().endswith(condition), found[row]


def test_lines_of_the_owner_are_theirs(cli: Cli, tmp_path: Path) -> None:
    project = tmp_path / "net"
    assert cli("new", project, "--yes").code == 0
    script = project / "train.py"
    replace_in(script, "        model.train()\n", "        model.train()\n        print('mine')\n")
    result = cli("explain", "--sources", "train.py", project)
    assert result.code == 0, result.err
    rows = result.out.splitlines()
    assert len(rows) == len(script.read_text().splitlines())
    mine = [row for row in rows if row.startswith("yours")]
    assert len(mine) == 1 and mine[0].endswith("print('mine')")
    pristine = project / ".scaffold" / "pristine.json"
    assert pristine.is_file()
    script.rename(project / "loop.py")
    moved = cli("explain", "--sources", "loop.py", project)
    assert moved.code == 0 and moved.out.splitlines() == rows, moved.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sources", "nothing.py"), "the project has no file 'nothing.py': it has .gitignore"),
        (("--sources", "train.py", "nowhere"), "there is no such folder"),
        (("--sources", "train.py", ".", "--set", "training.epochs=3"), "that does not exist yet"),
        (("ema", "--json"), "belong to --sources FILE"),
        ((), "explain what?"),
    ],
)
def test_what_can_not_be_explained(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    result = cli("explain", *arguments)
    assert result.code == 2 and message in result.err and "Traceback" not in result.err
