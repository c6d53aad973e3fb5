"""Updates of code that says the same in another way, or beside which new code has one right place.

Each kind comes with one beside it in which a person has to look.
"""

import json
import re
from collections.abc import Mapping

import pytest

from corpus.edit import (
    TRAIN,
    Apply,
    Files,
    add_import,
    after,
    before,
    both,
    create,
    delete,
    everywhere,
    sub,
    wrap,
)
from corpus.structure import extract, rename
from scaffold.answers.catalog import Value
from scaffold.merge.merge import Merged, merge_files
from scaffold.project.pristine import Pristine
from support.combinations import in_turns
from support.moves import (
    EMA,
    MIXING,
    NO_BEST,
    NO_CHECKPOINTS,
    NO_SCHEDULE,
    STEPS,
    WINDOW,
    check_asks,
    check_same,
    update,
)
from support.rendering import render_with_best as render

FIRST = {"features.first_evaluation.enabled": True}
TRACKER = {"features.tracker.enabled": True, "features.tracker.kind": "tensorboard"}
CLIPPING = {"features.clipping.enabled": True}
FORWARD, UPDATE = r"loss = compute_loss\(", r"optimizer\.step\("
EPOCHS, EVALUATE = r"for epoch in range\(", r"metrics \|= evaluate\("


def update_from(old: Mapping[str, Value], edit: Apply, new: Mapping[str, Value]) -> Merged:
    base, theirs = dict(render(old)), dict(render(new))
    mine = dict(base)
    edit(mine)
    return merge_files(Pristine("", {}, base), mine, theirs, "the update")


def update_files(
    old: Mapping[str, Value], edit: Apply, new: Mapping[str, Value]
) -> tuple[Merged, Files]:
    merged = update_from(old, edit, new)
    assert not merged.conflicts and not merged.warnings
    return merged, {path: text for path, text in merged.files.items() if text is not None}


# the same in other words

LOGGER = both(
    sub(TRAIN, r"^( +)log\(", r"\1logger.info(", None),
    add_import(TRAIN, "import logging"),
    sub(
        TRAIN,
        r"^def build_schedule",
        "logger = logging.getLogger(__name__)\n\n\ndef build_schedule",
    ),
    sub(TRAIN, r"^    log,\n", ""),
)


def test_a_new_field_has_its_own_type_in_a_class_with_another_name() -> None:
    _, files = update(rename("Config", "Args", TRAIN, "config.py"), TRACKER)
    assert "    tracker_project: str = " in files["config.py"]


def test_what_is_said_by_another_function_is_said_so_in_new_lines() -> None:
    files = check_same(LOGGER, FIRST)
    assert 'logger.info(f"before training' in files[TRAIN]


def test_what_is_said_by_another_function_in_one_place_is_no_rule() -> None:
    _, files = update(sub(TRAIN, r'^( +)log\((f"done)', r"\1print(\2"), FIRST)
    assert re.search(r'(?m)^ +log\(f"before training', files[TRAIN])


def test_unedited_tests_of_a_renamed_script_go_with_their_feature() -> None:
    def renamed(files: Files) -> None:
        files["main_train.py"] = files.pop(TRAIN)

    base, theirs = dict(render({})), dict(render(NO_CHECKPOINTS))
    mine = dict(base)
    renamed(mine)
    pristine = Pristine("", {}, base, moved={TRAIN: "main_train.py"})
    merged = merge_files(pristine, mine, theirs, "the update")
    assert not merged.conflicts
    assert merged.files["tests/test_resume.py"] is None


def two_spaces(files: Files) -> None:
    for path in files:
        if path.endswith(".py"):
            files[path] = re.sub(r"(?m)^ +", lambda row: " " * (len(row[0]) // 2), files[path])


@pytest.mark.parametrize("comment", ["", "# ours\n"])
def test_a_file_that_was_only_laid_out_goes_with_its_feature(comment: str) -> None:
    base = {"checkpoint.py": render({})["checkpoint.py"]}
    mine = dict(base)
    two_spaces(mine)
    mine["checkpoint.py"] = comment + mine["checkpoint.py"]
    merged = merge_files(Pristine("", {}, base), mine, {}, "the update")
    assert bool(merged.conflicts) == bool(comment)
    assert (merged.files["checkpoint.py"] is None) == (not comment)


RENAMED = everywhere(r"\boutput_dir\b(?!\")", "out_dir")


@pytest.mark.parametrize("comment", ["", "# ours\n"])
def test_a_file_in_which_only_a_name_was_changed_goes_with_its_feature(comment: str) -> None:
    """A name that the owner changed in train.py, too."""

    def edit(files: Files) -> None:
        RENAMED(files)
        files["checkpoint.py"] = comment + files["checkpoint.py"]

    merged = update_from({}, edit, NO_CHECKPOINTS)
    assert bool(merged.conflicts) == bool(comment)
    assert (merged.files["checkpoint.py"] is None) == (not comment)


# which lines can stand beside each other

AVERAGE = both(
    before(TRAIN, EPOCHS, "swa = AveragedModel(accelerator.unwrap_model(model))"),
    after(TRAIN, UPDATE, "swa.update_parameters(accelerator.unwrap_model(model))"),
    add_import(TRAIN, "from torch.optim.swa_utils import AveragedModel"),
)
RATES = after(
    TRAIN, UPDATE, 'rates = [group["lr"] for group in optimizer.param_groups]\nlog(rates)'
)
UNTIL = sub(
    TRAIN,
    r"^    for epoch in range\(progress\.epoch, config\.epochs\):$",
    "    epoch = progress.epoch - 1\n    while True:\n        epoch += 1\n"
    "        if epoch >= config.epochs:\n            break",
)
CUT = before(
    TRAIN, FORWARD, "index = torch.randperm(len(images))\nimages = images[index].clone()", "main"
)
UNPACKED = sub(
    TRAIN,
    r"^( +)for images, labels in bar:$",
    r"\1for batch in bar:\n\1    images, labels = batch",
)
SHAPE = before(
    TRAIN,
    FORWARD,
    'size, *shape = images.shape\nif progress.step == 0:\n    log(f"{shape}")',
    "main",
)
TERMS = sub(
    TRAIN,
    r"^( +)loss = compute_loss\(model\(images\), labels\)\.mean\(\)$",
    r"\1loss = 0.0\n\1for scale in (0.9, 1.1):\n"
    r"\1    loss = loss + compute_loss(model(scale * images), labels).mean() / 2",
)
PENALTY = sub(
    TRAIN,
    r"^( +)loss = compute_loss\(model\(images\), labels\)\.mean\(\)$",
    r"\1images.requires_grad_()\n\1loss = compute_loss(model(images), labels).mean()",
)


@pytest.mark.parametrize(
    "case",
    in_turns(
        [
            (AVERAGE, EMA),
            (RATES, NO_SCHEDULE),
            (UNTIL, FIRST),
            (PENALTY, WINDOW),
            (UNPACKED, MIXING),
        ],
        2,
    ),
)
def test_own_lines_with_one_right_place(case: tuple[Apply, Mapping[str, Value]]) -> None:
    check_same(*case)


@pytest.mark.parametrize("edit", in_turns([CUT, SHAPE], 2))
def test_own_lines_work_on_the_batch_before_new_ones(edit: Apply) -> None:
    merged, files = update(edit, MIXING)
    assert not merged.conflicts and not merged.warnings
    own = "size, *shape" if edit is SHAPE else "index = torch"
    assert files[TRAIN].index(own) < files[TRAIN].index("images, others, share = mix(")


def test_new_lines_of_the_forward_pass_go_into_the_owners_block() -> None:
    edit = wrap(TRAIN, FORWARD, r"train_loss\.add\(", "with accelerator.autocast():", "main")
    merged, files = update(edit, MIXING)
    assert not merged.conflicts and not merged.warnings
    block = re.search(r"(?m)^( +)with accelerator\.autocast\(\):\n((?:\1 .*\n)*)", files[TRAIN])
    assert block and "logits = model(images)" in block[2] and "train_loss.add(" in block[2]


CLEARED = "optimizer.zero_grad()"


@pytest.mark.parametrize(
    "place",
    [
        before(TRAIN, FORWARD, CLEARED, "main"),
        after(TRAIN, FORWARD, CLEARED, "main"),
        before(TRAIN, r"accelerator\.backward\(", CLEARED, "main"),
    ],
)
def test_gradients_that_are_cleared_before_a_step_of_several_parts_are_asked_about(
    place: Apply,
) -> None:
    check_asks(both(delete(TRAIN, re.escape(CLEARED)), place), WINDOW)


def test_gradients_that_are_cleared_on_a_condition_are_asked_about() -> None:
    own = f"if progress.step:\n    {CLEARED}"
    check_asks(both(delete(TRAIN, re.escape(CLEARED)), after(TRAIN, FORWARD, own, "main")), WINDOW)


def test_a_sum_of_the_owners_own_over_a_step_or_a_part_is_asked_about() -> None:
    check_asks(before(TRAIN, FORWARD, "total = 0.0\ntotal = total + 1", "main"), WINDOW)


SHARE = before(TRAIN, FORWARD, "share = 0.7\nimages = share * images", "main")


def test_a_value_that_may_change_between_parts_or_steps_is_asked_about() -> None:
    check_asks(SHARE, WINDOW)


def test_an_own_line_for_each_step_stays_one() -> None:
    files = check_same(after(TRAIN, UPDATE, "model.step()"), WINDOW)
    rows = [row.strip() for row in files[TRAIN].splitlines()]
    assert rows.index("model.step()") == rows.index("optimizer.step()") + 1


def test_own_clipping_whose_result_becomes_a_number_is_clipping() -> None:
    call = "accelerator.clip_grad_norm_(model.parameters(), 0.5)"
    edit = before(TRAIN, UPDATE, f"norm = float({call})")
    merged = update_from({"features.clipping.enabled": False}, edit, CLIPPING)
    assert merged.conflicts


def test_an_own_line_that_leaves_the_loop_is_asked_about() -> None:
    check_asks(before(TRAIN, FORWARD, "if len(labels) < 8:\n    continue", "main"), WINDOW)


# what an update moves

EVALUATOR = both(
    sub(
        TRAIN,
        r"^def main\(config: Config\) -> None:$",
        "class Evaluator:\n    run = staticmethod(evaluate)\n\n\ndef main(config: Config) -> None:",
    ),
    sub(TRAIN, r"= evaluate\(", "= Evaluator.run(", None),
)
KEYWORD = both(
    sub(TRAIN, r"^def evaluate\((.*)\) ->", r"def evaluate(\1, quiet=False) ->"),
    sub(TRAIN, r"(\|= evaluate\(.*)\)$", r"\1, quiet=True)"),
)
TABLE = after(
    TRAIN,
    r'log\(f"epoch ',
    'with open("summary.csv", "a") as table:\n    table.write(f"{metrics[\'train_loss\']}")',
)
END = extract("end_epoch", r"metrics = \{", r'if config\.checkpoint_unit == "ep', "Ends an epoch.")


@pytest.mark.parametrize(
    "edit",
    in_turns([EVALUATOR, KEYWORD, TABLE, rename("config", "cfg", TRAIN, function="main")], 2),
)
def test_evaluation_moves_with_the_owners_call(edit: Apply) -> None:
    check_same(edit, STEPS)


def test_numbers_of_batches_stay_where_a_step_has_several() -> None:
    numbered = r"for number, (images, labels) in enumerate(bar):"
    check_same(sub(TRAIN, r"for images, labels in bar:$", numbered), WINDOW)


def test_what_a_function_returns_is_no_lost_value() -> None:
    merged, _ = update(END, STEPS)
    assert not merged.conflicts and not merged.warnings


@pytest.mark.parametrize(
    "lines",
    in_turns(["print(metrics['val_loss'])", "print(metrics['train_loss'], len(metrics))"], 1),
)
def test_a_line_that_reads_what_moves_away_is_asked_about(lines: str) -> None:
    check_asks(after(TRAIN, EVALUATE, lines), STEPS)


def test_a_call_that_was_changed_in_one_of_two_places_is_asked_about() -> None:
    same = 'evaluate(accelerator, model, val_loader, "val", config.limit_batches)'
    check_asks(both(KEYWORD, after(TRAIN, r"checkpoints\.resume\(", same)), STEPS)


SAID = sub(TRAIN, r'^    log\(f"done \| .*\n((    accelerator\.log.*\n)?)    metrics_file.*\n', "")


def test_a_call_between_deleted_lines_that_can_still_be_made_is_asked_about() -> None:
    check_asks(SAID, TRACKER)


# what only the owner uses now

SCRIPT = "from weights import load_weights\n\nload_weights(None, None, None)\n"


def test_a_function_stays_if_an_own_script_uses_it() -> None:
    merged, files = update(create("sample.py", SCRIPT), NO_BEST)
    assert not merged.conflicts and not merged.warnings
    assert "def load_weights(" in files["weights.py"] and "import load_model" in files["weights.py"]
    assert "weights.py keeps load_weights, because sample.py uses it." in merged.notes
    assert "def load_weights(" not in render(NO_BEST)["weights.py"]


# what nobody uses now


def test_a_generated_variable_may_stay_though_nothing_uses_it_now() -> None:
    """The owner took out two of the lines that use it, and the update the last one."""
    edit = both(delete(TRAIN, r"best_model\.update"), delete(TRAIN, r"best_model\.load"))
    check_same(edit, NO_CHECKPOINTS)


def test_an_own_variable_whose_last_use_goes_is_asked_about() -> None:
    own = both(
        before(TRAIN, r"checkpoints = ", "own_loss = RunningLoss(accelerator)"),
        sub(TRAIN, '"train_loss": train_loss,', '"train_loss": own_loss,'),
    )
    check_asks(own, NO_CHECKPOINTS)


# names and paragraphs that go


@pytest.mark.parametrize("text", ["# digits\n\nOurs.\n", "Start with `python train.py`.\n"])
def test_an_own_readme_stays_as_it_is(text: str) -> None:
    files = check_same(create("README.md", text), EMA)
    assert files["README.md"] == text


def test_a_new_section_of_the_readme_comes_beside_deleted_ones() -> None:
    """A line of a deleted list does not."""
    edit = sub("README.md", r"^- \*\*.*\n", "", None)
    _, files = update(edit, EMA)
    assert "- **EMA" not in files["README.md"]
    _, files = update(edit, {"hardware.launcher": "slurm"})
    assert "sbatch" in files["README.md"]


def test_a_new_notebook_imports_what_the_owner_renamed() -> None:
    files = check_same(rename("main", "fit", TRAIN), {"hardware.launcher": "notebook"})
    assert "from train import fit" in files["train.ipynb"]
    assert json.loads(files["train.ipynb"])["nbformat"] == 4


def test_a_new_script_imports_what_the_owner_renamed() -> None:
    edit = rename("Config", "Args", "config.py")
    _, files = update_files(
        {"features.predict.enabled": False}, edit, {"features.predict.enabled": True}
    )
    assert re.search(r"from config import .*\bArgs\b", files["predict.py"])
    assert not re.search(r"\bConfig\b", files["predict.py"])
