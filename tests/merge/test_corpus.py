"""Updates of edits that were not made for the merge: the kinds in `corpus/`, seen in public code.

Half of the kinds are held out: single results of them are looked at by nobody while the merge is
worked on. `python tests/corpus/report.py --half both` prints the table of both halves.
"""

import os
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest

from corpus.changes import CHANGES, answers
from corpus.edit import EDITS, REPORTED, CannotEdit, Edit, after
from corpus.judge import NEEDED, NOT_NEEDED, RIGHT, WRONG, edited, judge_result, train
from corpus.report import cases, drawn, judge_all, table
from support.combinations import in_turns
from support.rendering import render

Proven = Callable[[str, int], None]
LINE = "best accuracy kept in a variable"


def test_the_corpus_is_large_and_half_of_it_held_out() -> None:
    assert len(EDITS) >= 200
    held = sum(edit.held_out for edit in EDITS.values())
    assert 0.4 < held / len(EDITS) < 0.6
    assert len(CHANGES) >= 25
    sources = [edit.source for edit in EDITS.values() if edit.source != REPORTED]
    assert len(sources) >= 300
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+:\S+", source) for source in sources)
    for edit in EDITS.values():
        assert edit.words


def project_for(name: str) -> dict[str, str]:
    """A render in which an edit finds what it changes."""
    for change in ("EMA", "SLURM's partition"):
        files = dict(render(answers(change)[0]))
        with suppress(CannotEdit):
            edited([name], files)
            return files
    raise CannotEdit(name)


@pytest.mark.parametrize("name", in_turns(EDITS, 12))
def test_edits_parse_and_can_be_made_twice(name: str) -> None:
    """An edit depends on nothing but the files: it is made to two renders alike."""
    files = project_for(name)
    once = edited([name], files)
    assert once == edited([name], files) != files
    for path, text in once.items():
        if path.endswith(".py"):
            encoding = "latin-1" if "latin-1" in text[:40] else "utf-8"
            compile(text.encode(encoding), path, "exec")


@pytest.mark.train
@pytest.mark.sweep
@pytest.mark.parametrize("name", EDITS)
def test_edits_train(name: str) -> None:
    run = train(edited([name], project_for(name)))
    assert run.status == 0, run.said


def test_an_edit_that_finds_nothing_says_so() -> None:
    nothing = Edit("nothing", "a/b:c", "", after("train.py", "there is no such line", "x = 1"))
    with pytest.raises(CannotEdit, match="there is no such line"):
        nothing(dict(render(answers("EMA")[0])))


@pytest.mark.train
def test_judge_knows_right_from_wrong() -> None:
    names, change = [LINE], "accumulation"
    mine = edited(names, render(answers(change)[0]))
    expected = edited(names, render(answers(change)[1]))

    def verdict(files: dict[str, str], code: int = 0) -> str:
        found = judge_result(names, change, code, "", files)
        assert found
        return found.verdict

    assert verdict(expected) == RIGHT
    text = expected["train.py"]
    swapped = text.replace("    progress, train_loss", "    zero = 0\n    progress, train_loss")
    assert verdict({**expected, "train.py": swapped}) == RIGHT, "the same training"
    assert verdict(mine) == WRONG, "no update"
    assert verdict(dict(render(answers(change)[1]))) == WRONG, "the edit is lost"
    moved = text.replace("            progress.batch += 1\n", "")
    assert verdict({**expected, "train.py": moved}) == WRONG
    line, marks = "    check_environment(accelerator)\n", "<<<<<<< yours\n=======\n>>>>>>> new\n"
    marked = text.replace(line, marks)
    assert verdict({**expected, "train.py": marked}) == NOT_NEEDED
    assert verdict(expected, 1) == NOT_NEEDED, "a warning that nothing is right"
    assert verdict(expected, 2) == WRONG


@pytest.mark.train
def test_judge_sees_a_statement_that_left_its_loop() -> None:
    """The samples of the last batch of a window are counted then, and nothing else is different."""
    names, change = ["samples counted"], "accumulation"
    expected = edited(names, render(answers(change)[1]))
    row, step = "samples += len(labels)\n", "sync_gradients:\n                continue\n"
    text = expected["train.py"]
    assert text.count(row) == text.count(step) == 1
    outside = re.sub(f" *{re.escape(row)}", "", text).replace(step, step + 12 * " " + row)
    found = judge_result(names, change, 0, "", {**expected, "train.py": outside})
    assert found and found.verdict == WRONG and "samples were seen" in found.why


def test_judge_knows_where_somebody_has_to_choose() -> None:
    names, change = ["rate changed"], "other numbers"
    mine = edited(names, render(answers(change)[0]))
    found = judge_result(names, change, 1, "", mine)
    assert found and found.verdict == NEEDED


@pytest.mark.train
def test_some_edits_of_the_corpus(proven: Proven) -> None:
    """A few of those that are not held out; all of them in the sweep."""
    some = cases("seen")[11 :: len(cases("seen")) // 6]
    found = judge_all(some)
    proven("updates of edits as in public code", len(found))
    assert not [verdict for verdict in found if verdict.verdict == WRONG], table(found)


@pytest.mark.train
@pytest.mark.sweep
def test_all_edits_of_the_corpus(capsys: pytest.CaptureFixture[str], proven: Proven) -> None:
    found = judge_all(cases("both"), workers=2)
    with capsys.disabled():
        print(f"\n{table(found)}\n")
    proven("updates of edits as in public code", len(found))
    counts = Counter(verdict.verdict for verdict in found)
    assert counts[WRONG] == 0
    assert counts[NOT_NEEDED] <= 0.01 * len(found)
    assert counts[RIGHT] >= 0.97 * (len(found) - counts[NEEDED])


@pytest.mark.train
@pytest.mark.sweep
def test_trained_fuzz(capsys: pytest.CaptureFixture[str], proven: Proven) -> None:
    """One to three edits and a change by chance: SCAFFOLD_FUZZ projects, from SCAFFOLD_SEED."""
    count, seed = int(os.environ.get("SCAFFOLD_FUZZ", "1000")), os.environ.get("SCAFFOLD_SEED", "1")
    found = judge_all(drawn(count, int(seed)), workers=2)
    with capsys.disabled():
        print(f"\nseed {seed}\n{table(found)}\n")
    proven("projects trained after an update", len(found))
    assert not [verdict for verdict in found if verdict.verdict == WRONG]
