"""Updates of code that its owner moved: into functions, classes, files; and of other settings.

The right result is the same edit, made to the new render. Each kind of move comes in several forms.
"""

import re
from itertools import product

import pytest

from corpus.edit import TRAIN, Apply, Files, after, both, define, delete, replace, sub
from corpus.structure import (
    extract,
    move,
    split_method,
    trainer_class,
    without_unused_imports,
)
from support.combinations import in_turns
from support.moves import (
    EMA,
    MIXING,
    NO_BEST,
    NO_CHECKPOINTS,
    NO_SCHEDULE,
    WINDOW,
    Answers,
    check_asks,
    check_same,
    update,
)
from support.rendering import render_with_best as render

NO_CLIPPING = {"features.clipping.enabled": False}
NO_DECAY = {"features.no_decay.enabled": True}
NAN = {"features.stop_on_nan.enabled": True}
STOP = {"features.early_stopping.enabled": True}
LION = {"training.optimizer": "lion"}
SMOOTH = {"training.label_smoothing": 0.1}
NUMBERS = {"training.learning_rate": 0.01, "training.weight_decay": 0.1}


# functions

LOSS, BACKWARD = r"loss = compute_loss\(", r"accelerator\.backward\("
FORWARD = extract("forward", LOSS, r"train_loss\.add\(", "The loss.")
STEP = extract(
    "take_step",
    r"(if config\.max_grad_norm:|optimizer\.step)",
    r"optimizer\.zero_grad\(",
    "One step.",
)
EVALUATION = extract("validate", r"metrics \|= evaluate|with ema", r'log\(f"epoch ', "Evaluates.")
BUILT = extract("build", r"train_loader, val_loader", r"optimizer = build_opt", "What is trained.")


@pytest.mark.parametrize(
    "case",
    in_turns(
        [
            (FORWARD, MIXING),
            (STEP, NO_CLIPPING),
            (BUILT, NUMBERS),
            (FORWARD, SMOOTH),
            (STEP, NO_SCHEDULE),
            (BUILT, NO_DECAY),
            (both(FORWARD, STEP), NAN),
        ],
        3,
    ),
)
def test_a_change_follows_into_a_function(case: tuple[Apply, Answers]) -> None:
    check_same(*case)


@pytest.mark.parametrize(
    ("change", "name", "is_there"),
    [(EMA, "ema", True), (STOP, "early_stopping", True), (NO_BEST, "best_model", False)],
)
def test_what_a_function_needs_is_passed_to_it(change: Answers, name: str, is_there: bool) -> None:
    """And what is no longer there is not."""
    files = check_same(
        extract(
            "end_epoch",
            r'metrics = \{"train',
            r'if config\.checkpoint_unit == "epochs"',
            "Ends it.",
        ),
        change,
    )
    found = re.findall(r"(?<!\.)\bend_epoch\(([^)]+)\)", files[TRAIN])
    assert len(found) == 2
    assert [name in re.findall(r"\w+", given) for given in found] == [is_there, is_there]


def test_what_a_function_no_longer_makes_is_no_longer_returned() -> None:
    files = check_same(STEP, NO_CLIPPING)
    assert not re.search(r"\bgrad_norm\b", files[TRAIN])


def test_statements_from_several_places_in_one_function_are_a_question() -> None:
    text = """
        def train_step(accelerator, model, optimizer, images, labels, train_loss):
            loss = compute_loss(model(images), labels).mean()
            train_loss.add(loss, len(labels))
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()


    """
    edit = both(
        replace(
            TRAIN, LOSS, "train_step(accelerator, model, optimizer, images, labels, train_loss)"
        ),
        *(delete(TRAIN, row, "main") for row in (r"train_loss\.add", BACKWARD)),
        *(delete(TRAIN, row, "main") for row in (r"optimizer\.step", r"optimizer\.zero_grad")),
        define(TRAIN, text),
    )
    check_asks(edit, WINDOW)


# classes


def renamed_self(name: str) -> Apply:
    """The methods call their object by another name."""
    return sub(TRAIN, r"\bself\b", name, None)


TRAINER = trainer_class()
LEARNER = trainer_class("Learner", "setup", "run")
PARTS = both(
    trainer_class(fit="train"),
    split_method(
        "validate", r'self\.metrics = \{"train|metrics = \{"train', r"self\.metrics_file", "train"
    ),
)


CLASSES = [TRAINER, LEARNER, both(TRAINER, renamed_self("this"))]


@pytest.mark.parametrize(
    "case",
    in_turns(product(CLASSES, [EMA, STOP, NO_CLIPPING, NO_BEST, NAN, SMOOTH, NUMBERS]), 40),
)
def test_a_change_follows_into_the_methods_of_a_class(case: tuple[Apply, Answers]) -> None:
    check_same(*case)


@pytest.mark.parametrize("change", [EMA, NO_CLIPPING])
def test_a_class_in_a_file_of_its_own(change: Answers) -> None:
    check_same(both(TRAINER, move(("Trainer",), "trainer.py", "The trainer.")), change)


def test_an_own_line_in_a_method_stays() -> None:
    own = 'log(f"own {self.progress.step}")'
    edit = both(TRAINER, after(TRAIN, r"self\.progress\.step \+= 1", own))
    assert own in check_same(edit, EMA)[TRAIN]


# files


@pytest.mark.parametrize(
    ("names", "change"),
    [
        (("build_optimizer",), LION),
        (("build_optimizer",), NO_DECAY),
        (("build_schedule",), {"features.schedule.kind": "linear"}),
        (("build_schedule", "build_optimizer"), LION),
    ],
)
def test_a_change_follows_a_definition_into_another_file(
    names: tuple[str, ...], change: Answers
) -> None:
    check_same(move(names, "parts.py", "Parts."), change)


@pytest.mark.every_run
def test_a_function_in_another_file_with_statements_of_main() -> None:
    edit = both(STEP, move(("take_step",), "engine.py", "The engine."))
    check_same(edit, NO_CLIPPING)


def test_what_both_files_need_goes_into_the_one_that_is_imported() -> None:
    edit = move(("evaluate",), "parts.py", "Parts.")
    merged, files = update(edit, {"features.predictions.enabled": True})
    assert not merged.conflicts and not merged.warnings
    assert "predictions_file = PredictionsFile()" in files["parts.py"]
    assert re.search(r"(?m)^from parts import .*\bpredictions_file\b", files[TRAIN])


def test_what_is_no_longer_generated_stays_in_the_owners_file() -> None:
    edit = move(("build_schedule",), "schedule.py", "The learning rate.")
    _, files = update(edit, NO_SCHEDULE)
    assert "def build_schedule" in files["schedule.py"]
    assert "build_schedule" not in files[TRAIN]


# hints, and other words for the same


@pytest.mark.parametrize(
    ("pattern", "change"),
    [
        (r"(\w+): Config\b", NO_SCHEDULE),
        (r"(\w+): Config\b", NO_DECAY),
        (r"(\(.*\)) -> [\w.\[\], ]+:$", SMOOTH),
        (r"(\(.*\)) -> [\w.\[\], ]+:$", NO_SCHEDULE),
    ],
)
def test_hints_that_the_owner_took_out_stay_out(pattern: str, change: Answers) -> None:
    new = r"\1:" if pattern.endswith("$") else r"\1"
    merged, files = update(sub(TRAIN, pattern, new, None), change)
    assert not merged.conflicts and not merged.warnings
    assert not re.search(pattern, files[TRAIN], re.MULTILINE)


@pytest.mark.parametrize("change", [NO_DECAY])
def test_parameters_of_another_name_without_a_hint(change: Answers) -> None:
    """As with the result of argparse: `args`, in place of `config: Config`."""
    edit = both(
        sub(TRAIN, r"\bconfig: Config\b", "args", None),
        sub(TRAIN, r"\bconfig(?=[.,)]| = )", "args", None),
    )
    merged, files = update(edit, change)
    assert not merged.conflicts and not merged.warnings
    assert "config: Config" not in files[TRAIN]
    assert ("def build_schedule" in files[TRAIN]) == (change is NO_DECAY)


def test_a_function_of_another_name_gets_its_new_parameter() -> None:
    edit = sub(TRAIN, r"\bcompute_loss\b", "criterion", None)
    files = check_same(edit, SMOOTH)
    assert re.search(r"def criterion\(.*, label_smoothing: float = 0\.0\)", files[TRAIN])


def sorted_fields(files: Files) -> None:
    """The fields of Config by their names."""
    head, mark, rest = files["config.py"].partition("class Config:\n")
    fields, end, tail = rest.partition("\n\n")
    files["config.py"] = "".join([head, mark, "\n".join(sorted(fields.split("\n"))), end, tail])


@pytest.mark.parametrize("change", [LION, NUMBERS, EMA, NO_CLIPPING])
def test_fields_in_another_order(change: Answers) -> None:
    merged, files = update(sorted_fields, change)
    assert not merged.conflicts and not merged.warnings
    expected = dict(render(change))
    fields = [
        sorted(re.findall(r"(?m)^    (\w+: .*)", text.partition("class Config:")[2]))
        for text in (files["config.py"], expected["config.py"])
    ]
    assert fields[0] == fields[1] and len(fields[0]) > 10
    assert files["config.py"].index("limit_batches:") < files["config.py"].index("seed: int")


def test_an_import_with_fewer_names_goes_with_the_rest() -> None:
    """The owner no longer uses one of two names, and the update none."""
    edit = both(
        replace(
            TRAIN,
            r"if __name__",
            'if __name__ == "__main__":\n    main(parse_config(__doc__))',
            "",
        ),
        without_unused_imports(TRAIN),
    )
    check_same(edit, NO_CHECKPOINTS)


# imports in another way

MODULE = both(
    sub(TRAIN, r"^from callbacks import .*$", "import callbacks"),
    sub(TRAIN, r"(?<![\w.])BestModel\(", "callbacks.BestModel(", None),
)
ALIAS = both(
    sub(TRAIN, r"^from callbacks import .*$", "import callbacks as cb"),
    sub(TRAIN, r"(?<![\w.])BestModel\(", "cb.BestModel(", None),
)


@pytest.mark.parametrize("edit", [MODULE, ALIAS], ids=["module", "alias"])
@pytest.mark.parametrize("change", [EMA, STOP, NO_BEST])
def test_what_the_owner_takes_from_a_module_stays_so(edit: Apply, change: Answers) -> None:
    """New names are imported as they are generated: the project's tests replace them there."""
    merged, files = update(edit, change)
    assert not merged.conflicts and not merged.warnings
    called = re.findall(r"\b(?:callbacks|cb)\.(\w+)\(", files[TRAIN])
    assert called == ([] if change is NO_BEST else ["BestModel"])
    assert not re.search(r"(?<![\w.])BestModel\b(?!\()", files[TRAIN])


def test_a_name_that_the_owner_calls_otherwise_is_called_so_in_new_lines() -> None:
    edit = both(
        sub(TRAIN, r"^(from metrics import [^)]*)\blog\b", r"\1log as say"),
        sub(TRAIN, r"(?<![\w.])log\(", "say(", None),
    )
    merged, files = update(edit, NAN)
    assert not merged.conflicts
    assert not re.search(r"(?<![\w.])log\(", files[TRAIN])


# lines of the owner's that make what a generated line did


@pytest.mark.parametrize(
    "lines",
    [
        ("found = {}", "metrics |= found"),
        ("found, extra = {}, 0", "metrics.update(found)"),
        ("first = {}\nfound = dict(first)", "metrics |= found"),
    ],
)
def test_a_line_in_two_steps_goes_into_a_new_block_as_a_whole(lines: tuple[str, str]) -> None:
    """With an average of the weights, the model is evaluated with it."""
    call = 'evaluate(accelerator, model, val_loader, "val", config.limit_batches)'
    rows = "\n".join(lines).format(call)
    merged, files = update(replace(TRAIN, r"metrics \|= evaluate", rows), EMA)
    found = re.search(rf"(?m)^( *)\S.*{re.escape(call)}", files[TRAIN])
    block = re.search(r"(?m)^( *)with ema\.applied\(\):\n +.*val_loader", files[TRAIN])
    assert merged.conflicts or (found and block and len(found[1]) > len(block[1]))
