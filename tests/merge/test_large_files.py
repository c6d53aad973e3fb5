"""An update takes time in proportion to the size of the files that it merges."""

import difflib
import random
import time
from collections.abc import Callable

import pytest

from scaffold.merge.merge import merge_files
from scaffold.merge.source.matcher import SequenceMatcher
from scaffold.project.pristine import Pristine
from support.rendering import render

UPDATE = {"training.gradient_accumulation_steps": 4}
PLACE = "    checkpoints.resume()\n"


def functions(lines: int, run: int) -> str:
    bodies = (
        f"def helper_{run}_{i}(x):\n    for k in range({i}):\n        x += k\n    return x\n\n\n"
        for i in range(lines // 6)
    )
    return "".join(bodies)


def statements(lines: int, run: int) -> str:
    return "".join(f"    value_{run}_{i} = float({i}) + abs(-{i})\n" for i in range(lines))


def sums(lines: int, run: int) -> str:
    return f"    total_{run} = 0\n" + "".join(f"    total_{run} += {i}\n" for i in range(lines))


def table(lines: int, run: int) -> str:
    rows = "".join(f"    ({i}, 'name {run} {i}'),\n" for i in range(lines))
    return f"TABLE_{run} = [\n{rows}]\n\n\n"


def seconds(write: Callable[[int, int], str], lines: int, run: int) -> float:
    """CPU time of the merge of an edited train.py of so many lines more."""
    base, theirs = dict(render({})), dict(render(UPDATE))
    text, added = base["train.py"], write(lines, run)
    before = PLACE if added.startswith(" ") else "def main("
    mine = {**base, "train.py": text.replace(before, added + before, 1)}
    start = time.process_time()
    merged = merge_files(Pristine("", {}, base), mine, theirs, "the update")
    spent = time.process_time() - start
    assert not merged.conflicts and not merged.warnings
    assert merged.files["train.py"] == theirs["train.py"].replace(before, added + before, 1)
    return spent


@pytest.mark.parametrize("write", [functions, statements, sums], ids=lambda f: f.__name__)
def test_the_time_of_an_update_grows_with_the_lines(write: Callable[[int, int], str]) -> None:
    """Eight times the lines take at most eight times as long; if it were their square, 64 times."""
    seconds(write, 100, 0)  # fills the caches with the rest of the project
    few = seconds(write, 500, 1)
    many = seconds(write, 4000, 2)
    assert many < 8 * few, f"{few:.2f} s, then {many:.2f} s"


@pytest.mark.sweep
@pytest.mark.parametrize("write", [functions, statements, sums, table], ids=lambda f: f.__name__)
def test_an_update_of_16000_lines(write: Callable[[int, int], str]) -> None:
    assert seconds(write, 16_000, 3) < 15


@pytest.mark.parametrize("kinds", [1, 2, 5, 20])
def test_the_matcher_finds_what_difflib_finds(kinds: int) -> None:
    dice = random.Random(kinds)
    for size in range(0, 120, 4):
        one = [dice.randrange(kinds) for _ in range(size)]
        two = [dice.randrange(kinds) if dice.random() < 0.05 else word for word in one]
        two[size // 3 : size // 2] = two[size // 2 : size * 2 // 3]
        expected = difflib.SequenceMatcher(None, one, two, autojunk=False)
        assert SequenceMatcher(one, two).get_opcodes() == expected.get_opcodes()


def test_a_long_table_that_both_sides_edit() -> None:
    """Its rows have the same words, and each is compared with three versions."""
    rows = [f"    'key {i}': ({i}, 'name {i}'),\n" for i in range(3000)]
    ours, theirs = rows.copy(), rows.copy()
    ours[700], theirs[2100] = "    'mine': (0, 'own'),\n", "    'key 2100': (1, 'new'),\n"
    both = [*ours[:2100], theirs[2100], *ours[2101:]]
    base, mine, new, merged = (
        {"table.py": "TABLE = {\n" + "".join(side) + "}\n"} for side in (rows, ours, theirs, both)
    )
    start = time.process_time()
    found = merge_files(Pristine("", {}, base), mine, new, "the update")
    assert time.process_time() - start < 10, "it was two minutes when offsets were counted anew"
    assert found.files == merged
