"""Random edits meet random changes of answers: no edit is lost, and nothing is merged wrong.

What an update makes of an edited project is right if it is the same edit of the new render, as in
the corpus. Where the edit can't be made there, nothing that its owner wrote may be lost, nothing
that the owner took out may come back, and each name has to be defined.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from corpus.edit import TRAIN, Edit, Files, after, delete
from corpus.judge import (
    NEEDED,
    NOT_NEEDED,
    RIGHT,
    WRONG,
    Verdict,
    expectations,
    loses,
    lost,
    same_code,
    syntax,
)
from corpus.random_edits import KINDS, WHOLE, Kind, draw, make
from corpus.report import row
from scaffold import __version__
from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.merge.conflicts import find_conflicts, frame, take_side
from scaffold.merge.merge import Merged, merge_files
from scaffold.project.moves import find_moved
from scaffold.project.pristine import Pristine
from support.combinations import BESIDE, as_many_as_possible, fitting, given_for, in_turns, ways
from support.outcomes import difference
from support.rendering import render

Proven = Callable[[str, int], None]
Given = Mapping[str, Value]
CATALOG = load_catalog()
TAIL = r"_r\d{5}\b"
ALL = given_for(CATALOG, as_many_as_possible(CATALOG))
NONE = given_for(CATALOG, [])


def _changes() -> dict[str, tuple[Given, Given]]:
    """Answers before and after: each feature turned on and off, alone and among all, hardware."""
    default = resolve(CATALOG, {"project.name": "example"})
    parts = {"training.gradient_accumulation_steps": 1}
    numbers = {"training.epochs": 7, "training.learning_rate": 0.01, "training.batch_size": 8}
    four = {"hardware.distributed_type": "MULTI_GPU", "hardware.num_processes": 4}
    found: dict[str, tuple[Given, Given]] = {
        "default -> none": ({}, NONE),
        "default -> all": ({}, ALL),
        "all -> default": (ALL, {}),
        "none -> ema": (NONE, {**NONE, "features.ema.enabled": True}),
        "all, not accumulation": (ALL, {**ALL, **parts}),
        "all, accumulation": ({**ALL, **parts}, ALL),
        "4 processes": ({}, four),
        "2 on the CPU": ({}, {"hardware.distributed_type": "MULTI_CPU"}),
        "other numbers": ({}, numbers),
    }
    for feature in fitting(CATALOG, "image_classification"):
        for way in ways(CATALOG, feature):
            given = dict(BESIDE.get(str(way), ())) | dict(way.given)
            if all(default[key] == value for key, value in given.items()):
                given = {way.given[0][0]: feature.off}
            if feature.requires and not feature.default:
                others = [CATALOG.features[name] for name in feature.requires]
                given |= {other.switch_key: other.example for other in others}
            label = ", ".join(f"{key}={value}" for key, value in given.items())
            found[label] = ({}, given)
            found[f"not {label}"] = (given, {})
    return found


CHANGES = _changes()


def merge(before: Given, mine: Files, after: Given) -> tuple[Merged, Files]:
    """What an update makes of the owner's files, and all files after it."""
    answers = resolve(CATALOG, {"project.name": "example", **before})
    pristine = Pristine(__version__, answers, dict(render(before)))
    pristine = replace(pristine, moved=find_moved(pristine, mine))
    merged = merge_files(pristine, mine, render(after), "the new answers")
    whole = {**mine, **merged.files}
    return merged, {path: text for path, text in whole.items() if text is not None}


def judge(edits: Sequence[Edit], change: str, mine: Files, files: Files, asks: bool) -> Verdict:
    """Whether these files are what the edits and the update should become."""
    base, theirs = (dict(render(given)) for given in CHANGES[change])
    expected = expectations(edits, base, theirs)
    sides = [original(side) for side in (mine, base, theirs, files)]
    if asks:
        why = wrong_sides(*sides)
        verdict = WRONG if why else NOT_NEEDED if expected else NEEDED
    elif any(same_code(one, files) for one in expected):
        why, verdict = "", RIGHT
    else:
        why = difference(expected[0], files) if expected else loses(*sides)
        verdict = WRONG if why else RIGHT
    return Verdict(tuple(map(str, edits)), change, verdict, why, files)


def original(files: Files) -> Files:
    """The files with the names as they were before their owner changed them."""
    return {re.sub(TAIL, "", path): re.sub(TAIL, "", text) for path, text in files.items()}


def wrong_sides(mine: Files, base: Files, theirs: Files, files: Files) -> str:
    """What is wrong with conflicts: either side can be taken, and the owner's loses nothing."""
    for side in ("theirs", "yours"):
        taken = {path: take_side(text, side == "yours") for path, text in files.items()}
        for path, text in taken.items():
            if problem := syntax(path, text):
                return f"with {side}: {problem}"
    return lost(mine, base, theirs, taken)


def edited(seed: int, change: str, number: int) -> tuple[list[Edit], Files]:
    """So many edits, and the project with them: of every second seed, near what will change."""
    random, mine = Random(seed), dict(render(CHANGES[change][0]))
    near = dict(render(CHANGES[change][1])) if seed % 2 else None
    edits = []
    for _ in range(number):
        edit, mine = draw(random, mine, near)
        edits.append(edit)
    return edits, mine


def run_case(seed: int, number: int) -> Verdict:
    """So many edits of one project, and its update to other answers."""
    change = [*CHANGES][seed % len(CHANGES)]
    before, after = CHANGES[change]
    edits, mine = edited(seed, change, number)
    merged, files = merge(before, mine, after)
    verdict = judge(edits, change, mine, files, bool(merged.conflicts or merged.warnings))
    marked = [one for path, text in files.items() for one in find_conflicts(path, text)]
    if {(one.path, one.line) for one in marked} - {(c.path, c.line) for c in merged.conflicts}:
        return replace(verdict, verdict=WRONG, why="a conflict is not reported where it is")
    if verdict.verdict == RIGHT and merge(after, files, after)[1] != files:
        why = "a second update changes what the first one wrote"
        return replace(verdict, verdict=WRONG, why=why)
    return verdict


def report(found: Sequence[Verdict]) -> str:
    """By kind of edit and by change; and what is wrong."""
    kinds = {name.split()[0] for one in found for name in one.names}
    rows = [row(kind, [one for one in found if kind in str(one)]) for kind in sorted(kinds)]
    rows += [row(change, [one for one in found if one.change == change]) for change in CHANGES]
    return "\n".join([row("all", found), *rows, *(str(one) for one in found if one.why)])


def test_random_edits(proven: Proven) -> None:
    found = [run_case(seed, number) for seed, number in ((7, 1), (8, 1), (9, 3))]
    assert not [one for one in found if one.verdict == WRONG], report(found)
    proven("random edits merged", len(found))


@pytest.mark.sweep
@pytest.mark.parametrize(("number", "count", "most"), [(1, 4000, 0.015), (3, 2000, 0.03)])
def test_many_random_edits(
    number: int, count: int, most: float, proven: Proven, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither wrong nor, more often than that, a conflict that is not needed."""
    with ProcessPoolExecutor(2) as pool:
        found = [*pool.map(partial(run_case, number=number), range(count), chunksize=100)]
    with capsys.disabled():
        print(f"\n{number} edit(s)\n{report(found)}")
    proven(f"projects with {number} random edit(s) merged", len(found))
    assert not [one for one in found if one.verdict == WRONG]
    assert sum(one.verdict == NOT_NEEDED for one in found) <= most * len(found)


@pytest.mark.parametrize("change", in_turns(CHANGES, 32))
def test_there_and_back(change: str) -> None:
    """An untouched project becomes what is generated, byte for byte, and again what it was."""
    before, after = CHANGES[change]
    for one, other in ((before, after), (after, before)):
        merged, files = merge(one, dict(render(one)), other)
        assert not merged.conflicts and files == dict(render(other))


@pytest.mark.parametrize("kind", in_turns([*KINDS, *WHOLE], 4), ids=lambda kind: kind.__name__)
def test_an_edit_is_made_and_left_by_the_same_answers(kind: Kind) -> None:
    files = dict(render({}))
    tries = (make(Random(seed), files, kind) for seed in range(100))
    _, mine = next(one for one in tries if one)
    assert mine != files
    merged, whole = merge({}, mine, {})
    assert not merged.conflicts and whole == mine


# the judge is judged

LOSS, OWN = "            loss = compute_loss(model(images), labels).mean()\n", "edit_12345"
EDIT = Edit("own", "", OWN, after(TRAIN, r"loss = compute_loss\(", f'print("{OWN}")'))
NEITHER = Edit("gone", "", "", delete(TRAIN, r"optimizer\.zero_grad"))
PRINT = f'            print("{OWN}")\n'
UPDATE = "            ema.update()\n"
CLEAR = "            optimizer.zero_grad()\n"
EMA = "features.ema.enabled=True"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PRINT, ""),
        (PRINT, PRINT + PRINT),
        (PRINT, PRINT.replace("            ", "        ", 1)),
        (LOSS + PRINT, PRINT + LOSS),
        (UPDATE, ""),
        (UPDATE, UPDATE * 2),
        (CLEAR + UPDATE, UPDATE + CLEAR),
        (UPDATE, f"            if ema:\n    {UPDATE}"),
        ("        # the data order depends only on the seed and the epoch\n", ""),
        ("import torch\n", ""),
        ("    ema = Ema(", "    ema = Ema(0, "),
        ("int(config.warmup_ratio", "int(2 * config.warmup_ratio"),
    ],
)
def test_judge_names_what_is_wrong(old: str, new: str) -> None:
    base, right = (dict(render(given)) for given in CHANGES[EMA])
    mine, right = EDIT(base), EDIT(right)
    assert judge([EDIT], EMA, mine, right, False).verdict == RIGHT
    assert right[TRAIN].count(old) >= 1, "the example has moved"
    wrong = {**right, TRAIN: right[TRAIN].replace(old, new, 1)}
    assert judge([EDIT], EMA, mine, wrong, False).verdict == WRONG


@pytest.mark.parametrize(
    ("edit", "old", "new", "says"),
    [
        (EDIT, "import nothing\n", "", ""),
        (EDIT, PRINT, "", "of the owner is there"),
        (EDIT, PRINT, PRINT[4:], "IndentationError"),
        (EDIT, "import torch\n", "", "UndefinedName"),
        (NEITHER, UPDATE, CLEAR + UPDATE, "is back"),
    ],
)
def test_judge_sees_what_is_lost(edit: Edit, old: str, new: str, says: str) -> None:
    """Also where there is no expected result to compare with."""
    base, theirs = (dict(render(given)) for given in CHANGES[EMA])
    files = edit(theirs)
    files[TRAIN] = files[TRAIN].replace(old, new, 1)
    found = loses(edit(base), base, theirs, files)
    assert says in found and bool(says) == bool(found)


def test_judge_sees_what_is_lost_in_a_conflict() -> None:
    base, theirs = (dict(render(given)) for given in CHANGES[EMA])
    mine, right = EDIT(base), EDIT(theirs)

    def verdict(yours: str, new: str) -> str:
        rows = frame([yours], [], [new], "the new answers")
        text = right[TRAIN].replace(PRINT, "".join(f"{row}\n" for row in rows))
        return judge([EDIT], EMA, mine, {**right, TRAIN: text}, True).verdict

    own = PRINT.rstrip("\n")
    assert verdict(own, "            pass") == NOT_NEEDED
    assert verdict("            pass", own) == WRONG, "the edit is lost"
    assert verdict(own, "            )") == WRONG, "the other side is no Python"
