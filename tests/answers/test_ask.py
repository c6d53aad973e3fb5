"""The dialogue of `scaffold new` and of updates, in a pseudo-terminal as a person has it."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from scaffold.answers.catalog import Value, as_typed
from scaffold.answers.manifests import load_catalog
from scaffold.answers.questions import begin, in_words, open_questions
from scaffold.answers.resolve import Answers, applies, resolve
from scaffold.errors import AnswerError
from support.combinations import fitting, in_turns
from support.command_line import run_cli
from support.files import listing, read_files
from support.terminal import (
    BACKSPACE,
    CTRL_C,
    CTRL_U,
    DOWN,
    END,
    ENTER,
    ESCAPE,
    HOME,
    PAGE_DOWN,
    PAGE_UP,
    SECONDS,
    UP,
    Terminal,
    pointed,
)

SUMMARY = "? Write "
UPDATE = "? Update "


Start = Callable[..., Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    terminals = []

    def start(*options: str, ask_task: bool = False, **how: Any) -> Terminal:
        folder = tmp_path / "dialogue"
        folder.mkdir()
        given = [] if ask_task or "command" in how else GIVEN_TASK
        terminals.append(Terminal(folder, *options, *given, **how))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.child.close(force=True)


def written(terminal: Terminal) -> dict[str, bytes]:
    assert "Next:" in terminal.text
    return read_files(terminal.folder / "project")


def finished(terminal: Terminal) -> dict[str, bytes]:
    """The files, after Enter at all questions that are left."""
    terminal.repeat(ENTER, until=SUMMARY)
    assert terminal.finish(ENTER) == 0
    return written(terminal)


def written_without_asking(folder: Path, *options: str) -> dict[str, bytes]:
    folder.mkdir()
    result = run_cli("new", "project", "--yes", *options, cwd=folder)
    assert result.returncode == 0, result.stderr
    return read_files(folder / "project")


def assert_nothing_written(terminal: Terminal, status: int) -> None:
    assert status == 130
    assert "Nothing was written." in terminal.text
    assert listing(terminal.folder) == []


# so that only the questions after them are asked
TASK = {
    "project.task": "image_classification",
    "image_classification.dataset": "digits",
    "image_classification.model": "cnn",
}
GIVEN_TASK = [f"--set={key}={value}" for key, value in TASK.items()]


def test_the_task_decides_what_is_asked_next(start: Start, tmp_path: Path) -> None:
    terminal = start(ask_task=True)
    terminal.answer("(project.name)")
    terminal.choose("(project.task)", "tabular_regression")
    terminal.choose("(tabular_regression.dataset)", "csv")
    terminal.answer("(tabular_regression.path)", "houses.csv")
    terminal.press(ESCAPE, "(tabular_regression.target)")
    terminal.wait("(tabular_regression.path)")
    terminal.repeat(ESCAPE, until="(project.task)")
    terminal.choose("(project.task)", "autoencoder")
    terminal.wait("(autoencoder.dataset)")
    terminal.repeat(ENTER, until=SUMMARY)
    assert "tabular" not in terminal.text
    assert terminal.finish(ENTER) == 0
    assert written(terminal) == written_without_asking(tmp_path / "yes", "--task", "autoencoder")


HOUSES = "id,rooms,price\n" + "".join(f"{row},{row % 5},{row}.5\n" for row in range(30))


def test_the_columns_of_named_data_are_choices(start: Start, tmp_path: Path) -> None:
    """They are said as soon as the file is named, and asked for in a menu."""
    (tmp_path / "houses.csv").write_text(HOUSES)
    terminal = start(ask_task=True)
    terminal.answer("(project.name)")
    terminal.choose("(project.task)", "tabular_regression")
    terminal.choose("(tabular_regression.dataset)", "csv")
    terminal.answer("(tabular_regression.path)", "later.csv")
    terminal.wait("(tabular_regression.target) [target]")
    assert "later.csv does not exist yet" in terminal.text
    terminal.press(ESCAPE)
    terminal.wait("(tabular_regression.path)")
    assert "does not exist yet" not in terminal.text
    terminal.answer("(tabular_regression.path)", CTRL_U + "../houses.csv")
    question = terminal.wait("(tabular_regression.target)", "»")
    assert [line.split()[-1] for line in question.splitlines()[1:4]] == ["id", "rooms", "price"]
    assert "../houses.csv: 30 rows; 3 columns: id, rooms, price" in terminal.text
    terminal.choose("(tabular_regression.target)", "rooms")
    terminal.point_at("id", "(tabular_regression.drop_columns)")
    terminal.press(" ")
    terminal.press(ENTER)
    files = finished(terminal)
    text = files["config.py"].decode()
    assert 'path: str = "../../houses.csv"' in text
    assert 'target: str = "rooms"' in text and 'drop_columns: str = "id"' in text


@pytest.mark.sweep
def test_several_columns_are_picked(start: Start, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("one,two,kind\n" + "a,b,c\nd,e,f\n" * 9)
    task = "text_classification"
    settings = [f"--set={task}.dataset=csv", f"--set={task}.path=../pairs.csv"]
    terminal = start("--task", task, *settings, ask_task=True)
    terminal.repeat(ENTER, until=f"({task}.text_columns)")
    terminal.press(ENTER)
    terminal.wait("the name of a column, or two names")
    for column in ("one", "two"):
        terminal.point_at(column, "text_columns")
        terminal.press(" ")
    terminal.press(ENTER)
    terminal.wait(f"({task}.label_column)", "» kind")
    terminal.press(ENTER)
    terminal.repeat(ENTER, until=SUMMARY)
    assert "2 classes in kind: c (9), f (9)" in terminal.text
    assert "text_columns=one,two" in terminal.text


def test_what_is_wrong_with_given_data_is_said_first(start: Start, tmp_path: Path) -> None:
    (tmp_path / "houses.csv").write_text(HOUSES + "31,2\n")
    given = ["path=../houses.csv", "dataset=csv"]
    settings = [f"--set=tabular_regression.{setting}" for setting in given]
    terminal = start("--task", "tabular_regression", *settings, ask_task=True)
    terminal.wait("(project.name)")
    assert "problem: row 31 has 2 fields, and the first line names 3" in terminal.text
    terminal.repeat(ENTER, until="(tabular_regression.target)")
    assert "» price" in terminal.text


CHANGES = {
    "project.name": "net",
    "hardware.distributed_type": "MULTI_CPU",
    "hardware.num_processes": 2,
    "hardware.use_cpu": True,
    "hardware.mixed_precision": "bf16",
    "training.epochs": 7,
    "training.gradient_accumulation_steps": 4,
    "training.weight_decay": 0.1,
    "features.best_model.enabled": True,
    "features.clipping.max_norm": 2.5,
    "features.ema.enabled": True,
    "features.ema.decay": 0.9,
    "features.schedule.kind": "wsd",
    "features.schedule.decay": 0.4,
}


def edited_answers(text: str) -> str:
    """A scaffold.toml in which a person made the changes."""
    document = tomlkit.parse(text)
    for key, value in CHANGES.items():
        *tables, name = key.split(".")
        table = document
        for part in tables:
            if part not in table:
                table[part] = {}
            table = table[part]
        table[name] = value
    return tomlkit.dumps(document)


@pytest.mark.every_run
def test_the_same_answers_write_the_same_project_however_given(
    start: Start, tmp_path: Path
) -> None:
    terminal = start()
    terminal.answer("(project.name) [project]", "net")
    terminal.choose("(hardware.distributed_type)", "MULTI_CPU")
    terminal.answer("(hardware.num_processes) [2]", "2")
    terminal.choose("(hardware.launcher)", "accelerate")
    terminal.answer("(hardware.num_machines) [1]")
    menu = terminal.wait("(hardware.mixed_precision)")
    assert "bf16 - 16 bits" in menu
    assert "fp16" not in menu, "has no effect on the CPU"
    terminal.choose("(hardware.mixed_precision)", "bf16")
    terminal.answer("(training.epochs) [20]", "7")
    terminal.repeat(ENTER, until="(training.gradient_accumulation_steps) [1]")
    terminal.answer("(training.gradient_accumulation_steps)", "4")
    terminal.wait("○ best_model - keeps", "○ ema - ")
    terminal.switch("best_model")
    terminal.switch("ema")
    terminal.press(ENTER, "● best_model", "● ema")
    terminal.answer("(features.ema.decay) [0.99]", "0.9")
    terminal.choose("(features.schedule.kind)", "wsd")
    terminal.press("y", "Show the advanced settings?")
    terminal.repeat(ENTER, until="(training.weight_decay)")
    terminal.answer("(training.weight_decay) [0.01]", "0.1")
    terminal.repeat(ENTER, until="(features.clipping.max_norm) [1.0]")
    terminal.answer("(features.clipping.max_norm)", "2.5")
    terminal.repeat(ENTER, until="(features.schedule.decay) [0.2]")
    terminal.answer("(features.schedule.decay)", "0.4")
    terminal.wait(SUMMARY)
    assert terminal.finish(ENTER) == 0

    files = written(terminal)
    settings = [f"--set={key}={value}" for key, value in CHANGES.items()]
    assert files == written_without_asking(tmp_path / "set", *settings)
    default = written_without_asking(tmp_path / "default")["scaffold.toml"].decode()
    answers = tmp_path / "answers.toml"
    answers.write_text(edited_answers(default))
    assert files == written_without_asking(tmp_path / "file", "--answers", str(answers))


@pytest.mark.sweep
def test_going_back_offers_earlier_answers_and_drops_what_no_longer_applies(
    start: Start, tmp_path: Path
) -> None:
    terminal = start()
    terminal.repeat(ENTER, until="(training.epochs)")
    terminal.answer("(training.epochs) [20]", "7")
    terminal.repeat(ENTER, until="(features.schedule.kind)")
    terminal.choose("(features.schedule.kind)", "wsd")
    terminal.press("y", "Show the advanced settings?")
    terminal.repeat(ENTER, until="(features.schedule.decay)")
    terminal.answer("(features.schedule.decay) [0.2]", "0.5")
    terminal.wait(SUMMARY)
    assert "kind=wsd, warmup=0.05, decay=0.5" in terminal.text

    terminal.press(ESCAPE, SUMMARY)
    terminal.wait("(features.schedule.decay) [0.5]")
    assert "kind=wsd" not in terminal.text, "the summary went with the question"
    terminal.repeat(ESCAPE, until="(training.epochs)")
    terminal.answer("(training.epochs) [7]", "8")
    terminal.repeat(ENTER, until="(features.schedule.kind)")
    terminal.press(UP, "» wsd")
    terminal.choose("(features.schedule.kind)", "cosine")
    terminal.press("n", "» yes")
    terminal.wait(SUMMARY)
    assert "kind=cosine, warmup=0.05" in terminal.text
    assert "decay=0.5" not in terminal.text
    assert terminal.finish(ENTER) == 0
    expected = written_without_asking(tmp_path / "set", "--set=training.epochs=8")
    assert written(terminal) == expected


@pytest.mark.sweep
def test_default_that_follows_from_an_answer_follows_it_after_going_back(start: Start) -> None:
    terminal = start("--set=features.tracker=true")
    terminal.repeat(ENTER, until="(features.tracker.project) [project]")
    terminal.press(ENTER, "(features.tracker.project)")
    terminal.repeat(ESCAPE, until="(project.name)")
    terminal.answer("(project.name)", "renamed")
    terminal.repeat(ENTER, until="(features.tracker.project) [renamed]")


@pytest.mark.parametrize("columns", in_turns([50, 120], 2))
def test_going_back_takes_what_was_shown_off_the_screen(start: Start, columns: int) -> None:
    terminal = start(columns=columns)
    first = terminal.wait("(project.name)")
    assert "Esc: back" not in first
    terminal.repeat(ENTER, until="(hardware.mixed_precision)")
    terminal.wait("Esc: back")
    terminal.repeat(ENTER, until=SUMMARY)
    terminal.repeat(ESCAPE, until="(project.name)")
    assert terminal.text.strip() == first


def test_escape_at_the_first_question_does_nothing(start: Start) -> None:
    terminal = start("--set=project.name=net")
    before = terminal.wait("(hardware.distributed_type)")
    terminal.child.send(ESCAPE)
    terminal.press(DOWN)
    assert terminal.wait("» MULTI_GPU").splitlines()[0] == before.splitlines()[0]


@pytest.mark.parametrize(
    "question", in_turns(["(project.name)", "(hardware.use_cpu)", "Which features?", SUMMARY], 2)
)
def test_ctrl_c_leaves_nothing_behind(start: Start, question: str) -> None:
    terminal = start()
    terminal.repeat(ENTER, until=question)
    assert_nothing_written(terminal, terminal.finish(CTRL_C))


def test_cancel_at_the_summary_writes_nothing(start: Start) -> None:
    terminal = start()
    terminal.repeat(ENTER, until=SUMMARY)
    terminal.press(DOWN, "» yes")
    terminal.press(ENTER, "» back")
    terminal.press(ENTER, "Show the advanced settings?")
    terminal.point_at("cancel", SUMMARY)
    assert_nothing_written(terminal, terminal.finish(ENTER))


def test_a_wrong_answer_is_explained_and_can_be_corrected(start: Start, tmp_path: Path) -> None:
    terminal = start()
    terminal.answer("(project.name)", "-net-")
    terminal.press(CTRL_U, "'-net-' is not allowed: use ASCII letters, digits")
    terminal.answer("(project.name)", "net")
    terminal.repeat(ENTER, until="(training.epochs)")
    terminal.answer("(training.epochs)", "0")
    terminal.wait("training.epochs: 0 is not allowed: use a whole number, at least 1.")
    terminal.answer("0 is not allowed", "\x7fmany")
    terminal.press(CTRL_U, "'many' is not allowed: use a whole number, at least 1.")
    terminal.answer("(training.epochs)", "3")
    terminal.wait("(training.batch_size)")
    assert "not allowed" not in terminal.text
    terminal.repeat(ENTER, until=SUMMARY)
    assert terminal.finish("y") == 0
    options = ["--set=project.name=net", "--set=training.epochs=3"]
    assert written(terminal) == written_without_asking(tmp_path / "set", *options)


def test_features_that_need_another_are_explained(start: Start) -> None:
    terminal = start()
    terminal.repeat(ENTER, until="Which features?")
    terminal.switch("learning_curves")
    terminal.switch("metrics_file")
    terminal.press(ENTER, "○ metrics_file", "● learning_curves")
    shown = terminal.wait("learning_curves: needs the feature metrics_file: turn metrics_file on")
    assert "too, or learning_curves off." in shown and "learning_curves.enabled" not in shown
    assert re.search("» ● learning_curves ", shown), "it is pointed at"
    terminal.switch("metrics_file")
    terminal.press(ENTER, "● metrics_file", "● learning_curves")
    terminal.repeat(ENTER, until=SUMMARY)


@pytest.fixture
def small(start: Start) -> Terminal:
    """The menu of features as the first question in a terminal of the usual size."""
    catalog = load_catalog()
    answers = resolve(catalog, {"project.name": "project", **TASK})
    asked = [option for option in catalog.settings.values() if option.question and not option.finer]
    given = [
        f"--set={option.key}={as_typed(answers[option.key])}"
        for option in asked
        if applies(catalog, option, answers)
        and option.table in catalog.plain_tables
        and option.key not in TASK
    ]
    terminal = start(*given, columns=80, rows=24)
    terminal.wait("Which features?", "more below")
    return terminal


def features_shown(shown: str) -> list[str]:
    return re.findall(r"(?m)^ [ »] [○●] (\w+) - ", shown)


def test_a_small_screen_says_what_is_hidden(small: Terminal) -> None:
    """All features are seen by turning pages, and each with all its lines."""
    shown = small.settled("more below")
    assert "more above" not in shown
    features = [feature.name for feature in fitting(load_catalog(), TASK["project.task"])]
    listed = [name for name in sorted(features) if not load_catalog().features[name].switch]
    seen: list[str] = []
    while "more below" in shown:
        first, below = pointed(shown), re.search(r"(\d+) more below", shown)
        assert below and int(below[1]) == len(listed) - listed.index(features_shown(shown)[-1]) - 1
        seen += features_shown(shown)
        small.press(PAGE_DOWN)
        shown = small.settled("Which features?")
        assert listed.index(pointed(shown)) > listed.index(first)
    assert sorted({*seen, *features_shown(shown)}) == listed
    small.press(HOME)
    assert pointed(small.settled("more below")) == listed[0]
    small.press(END)
    shown = small.settled("more above")
    assert "more below" not in shown
    assert pointed(shown) == listed[-1] == "unused_parameters"
    last = "trains the last layers first, and unfreezes the others after some epochs"
    assert last in " ".join(shown.split())
    small.press(PAGE_UP)
    assert pointed(small.settled("Which features?")) not in (listed[0], listed[-1])
    small.press(HOME)
    small.press(PAGE_UP + DOWN)
    assert pointed(small.settled("more below")) == listed[1], "the ends are no way around"


def test_typing_filters_the_menu(small: Terminal, tmp_path: Path) -> None:
    catalog = load_catalog()
    small.press("moving")
    shown = small.settled("filter 'moving': ")
    assert all("moving" in catalog.features[name].help for name in features_shown(shown))
    assert pointed(shown) == "ema"
    small.press(" ", "○ ema")
    small.press("qq")
    shown = small.settled("filter 'movingqq': no choice contains it", "● ema")
    assert pointed(shown) == "ema"
    small.press(BACKSPACE)
    small.wait("filter 'movingq': no choice")
    small.press(BACKSPACE)
    small.wait("filter 'moving': ")
    small.press(BACKSPACE)
    small.wait("filter 'movin': ")
    small.press(ESCAPE)
    shown = small.wait("more below", without="filter 'mov")
    assert pointed(shown) == "ema", "and not the last question"
    small.press("aia")  # once they switched all features
    small.press(ESCAPE)
    small.press("BEST_M")
    small.wait("filter 'BEST_M': 1 of ")
    small.press(" ")
    small.press(ENTER, "● best_model")
    small.wait("(features.ema.decay)")
    options = ["--set=features.ema=true", "--set=features.best_model=true"]
    assert finished(small) == written_without_asking(tmp_path / "set", *options)


def test_typing_finds_a_task(start: Start) -> None:
    terminal = start("--name=net", ask_task=True)
    terminal.wait("What should the model learn?", "type: filter")
    terminal.press("reward")
    shown = terminal.settled("filter 'reward': 1 of ", "» reward_model")
    assert "autoencoder" not in shown
    terminal.press(ESCAPE)
    terminal.wait("autoencoder")
    terminal.press("wav")
    terminal.settled("filter 'wav': 2 of ", "» audio_classification", "speech_recognition")
    terminal.press(DOWN + ENTER)
    shown = terminal.wait("speech_recognition.dataset", "tones")
    assert "type: filter" not in shown, "of three choices"


def test_a_filter_finds_descriptions_where_no_name_and_help_has_its_text(small: Terminal) -> None:
    small.press("wrong")
    shown = small.settled("by their description")
    found = set(features_shown(shown))
    assert {"evaluate"} <= found and "ema" not in found
    assert f"filter 'wrong': {len(found)} of " in shown


def test_tab_completes_a_path(start: Start) -> None:
    dataset = "--set=image_classification.dataset=image_folder"
    terminal = start("--task=image_classification", dataset, "--name=net", ask_task=True)
    for name in ("mine", "others"):
        for kind in ("cats", "dogs"):
            (terminal.folder / "pictures" / name / kind).mkdir(parents=True)
    terminal.press("pic\t", "In which folder", "Tab: complete a path")
    terminal.settled("] pictures")
    terminal.press("/\t", "In which folder")
    terminal.settled("mine/", "others/")
    terminal.press(ESCAPE)
    terminal.press("o\t", "In which folder")
    terminal.settled("pictures/others")
    terminal.press(ENTER)
    answers = tomllib.loads(finished(terminal)["scaffold.toml"].decode())
    assert answers["image_classification"]["path"] == "../pictures/others"


def test_sharding_is_asked_for_several_devices_only() -> None:
    catalog = load_catalog()
    assert "hardware.sharding" not in open_questions(begin(catalog, {}, "net"))
    given = {"project.name": "net", "hardware.distributed_type": "MULTI_GPU"}
    assert "hardware.sharding" in open_questions(begin(catalog, given, "net"))
    offloaded = {"project.name": "net", "hardware.sharding": "deepspeed"}
    previous = resolve(catalog, offloaded)
    assert "hardware.sharding" in open_questions(begin(catalog, {}, "net", previous))


def test_a_message_has_the_words_of_the_menu() -> None:
    catalog = load_catalog()

    def refusal(**features: Value) -> str:
        given = {"project.name": "net"}
        with pytest.raises(AnswerError) as refused:
            resolve(catalog, {**given, **{k.replace("__", "."): v for k, v in features.items()}})
        return in_words(catalog, refused.value)

    needs = "needs the feature fsdp: turn it on with hardware.sharding=fsdp."
    said = refusal(parallelism__enabled=True, hardware__num_processes=2)
    assert said == f"parallelism.enabled: {needs}", "no feature of the menu"
    loop = {"project.loop": "minimal", "features.ema.enabled": True}
    off = {f.switch_key: f.off for f in catalog.features.values() if f.name != "ema"}
    assert refusal(**off, **loop) == (
        "ema: the minimal loop does not support it: start again with --set project.loop=complete, "
        "or turn ema off."
    )
    assert in_words(catalog, AnswerError("features.ema.enabled", needs)) == (
        'ema: needs the feature fsdp: go back to "Shard the model across the devices?" and choose '
        "fsdp, or turn ema off."
    )


def test_given_answers_are_not_asked(start: Start, tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text("[training]\nbatch_size = 8\n")
    options = ["--set", "hardware.distributed_type=MULTI_CPU", "--epochs", "3"]
    options += ["--set", "features.ema=true", "--answers", str(tmp_path / "answers.toml")]
    terminal = start(*options)
    terminal.answer("(project.name)")
    for name in ("num_processes", "launcher", "num_machines", "mixed_precision"):
        terminal.answer(f"(hardware.{name})")
    terminal.answer("(training.optimizer)")
    terminal.answer("(training.learning_rate)")
    terminal.answer("(training.gradient_accumulation_steps)")
    assert "○ ema " not in terminal.wait("Which features?")
    terminal.repeat(ENTER, until="(features.ema.decay)")
    assert finished(terminal) == written_without_asking(tmp_path / "yes", *options)


def test_only_open_questions_are_asked(start: Start) -> None:
    terminal = start()
    terminal.answer("(project.name)")
    terminal.choose("(hardware.distributed_type)", "NO")
    terminal.press(ENTER, "(hardware.launcher)")
    terminal.press("y", "(hardware.use_cpu)")
    assert "fp16" not in terminal.wait("(hardware.mixed_precision)")
    terminal.press(ESCAPE)
    terminal.press("n", "(hardware.use_cpu)", "» yes")
    assert "fp16" in terminal.wait("(hardware.mixed_precision)")
    terminal.press(ESCAPE)
    terminal.press(ESCAPE, "(hardware.use_cpu)")
    terminal.press(ESCAPE, "(hardware.launcher)")
    terminal.choose("(hardware.distributed_type)", "MULTI_GPU")
    terminal.press(ENTER, "(hardware.num_processes)")
    terminal.repeat(ENTER, until="Which features?")
    assert "(hardware.use_cpu)" not in terminal.text
    for feature in ("schedule", "best_model"):
        terminal.switch(feature)
    terminal.press(ENTER, "○ schedule", "● best_model")
    terminal.wait("Show the advanced settings?")


@pytest.mark.sweep
def test_a_question_names_the_key_of_accelerate_where_it_is_another(start: Start) -> None:
    terminal = start("--num-processes", "2", "--sharding", "fsdp")
    terminal.repeat(ENTER, until="Show the advanced settings?")
    terminal.press("y", "Show the advanced settings?")
    terminal.repeat(ENTER, until="(fsdp.version, in Accelerate fsdp_version)")
    assert "(hardware.launcher" not in terminal.text.replace("(hardware.launcher)", "")


MACHINES = """
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
machine_rank: 1
main_process_ip: 10.0.0.1
num_machines: 2
num_processes: 4
"""


@pytest.mark.parametrize("launcher", in_turns(["slurm", "torchrun", "accelerate"], 3))
def test_a_file_of_accelerate_leaves_open_how_a_run_is_started(
    start: Start, tmp_path: Path, launcher: str
) -> None:
    """What only some launchers need is offered to those, and forgotten beside others."""
    file = tmp_path / "accelerate.yaml"
    file.write_text(MACHINES)
    terminal = start("--from-accelerate-config", str(file), "--set=project.name=net")
    assert "» accelerate" in terminal.wait("(hardware.launcher)"), "the first question"
    terminal.choose("(hardware.launcher)", launcher)
    if launcher == "slurm":
        terminal.wait("(hardware.sharding)")
    else:
        terminal.answer("(hardware.main_process_ip) [10.0.0.1]")
        terminal.answer("(hardware.main_process_port) [29500]")
    options = ["--from-accelerate-config", str(file), "--name=net", f"--launcher={launcher}"]
    files = finished(terminal)
    assert files == written_without_asking(tmp_path / "yes", *options)
    assert (b"machine_rank = 1" in files["scaffold.toml"]) == (launcher != "slurm")


@pytest.mark.sweep
def test_contradicting_answers_are_refused_before_asking(start: Start) -> None:
    options = ["--set=hardware.distributed_type=NO", "--set=hardware.num_processes=4"]
    terminal = start(*options)
    while terminal.read():
        pass
    terminal.child.close()
    assert terminal.child.exitstatus == 2
    assert "4 processes need" in terminal.text
    assert listing(terminal.folder) == []


@pytest.mark.parametrize("stdin", in_turns(["< /dev/null", "0<&-", ": |", "sleep 2 |"], 2))
def test_nothing_is_asked_without_a_terminal(tmp_path: Path, stdin: str) -> None:
    result = new_with_input(tmp_path, stdin)
    assert result.returncode == 0, result.stderr
    assert "called" not in result.stdout
    files = read_files(tmp_path / "dialogue" / "project")
    assert files == written_without_asking(tmp_path / "yes")


def new_with_input(
    tmp_path: Path, stdin: str, *options: str, command: str = "new project"
) -> subprocess.CompletedProcess[str]:
    """`scaffold new project` without a terminal, after a pipe or before a redirection."""
    (tmp_path / "dialogue").mkdir(exist_ok=True)
    scaffold = shlex.join([sys.executable, "-m", "scaffold", *command.split(), *options])
    line = f"{stdin} {scaffold}" if stdin.endswith("|") else f"{scaffold} {stdin}"
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=tmp_path / "dialogue",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


@pytest.mark.every_run
@pytest.mark.parametrize(
    "stdin", in_turns(["printf 'foo\\ngan\\n' |", "<<< foo", "< ../answers"], 3)
)
@pytest.mark.parametrize("options", [[], ["--task", "gan", "--set", "features.ema=true"]])
def test_answers_in_a_pipe_are_refused(tmp_path: Path, stdin: str, options: list[str]) -> None:
    (tmp_path / "answers").write_text("foo\ngan\n")
    result = new_with_input(tmp_path, stdin, *options)
    assert result.returncode == 2
    assert result.stderr.startswith("Error: ") and len(result.stderr.splitlines()) == 1
    for way in ("--set", "--answers", "--yes"):
        assert way in result.stderr
    assert listing(tmp_path / "dialogue") == []


@pytest.mark.parametrize("way", in_turns(["settings", "yes", "recipe", "file"], 2))
def test_input_of_another_program_is_no_obstacle_to_complete_answers(
    tmp_path: Path, way: str
) -> None:
    catalog = load_catalog()
    answers = resolve(catalog, {"project.name": "project"})
    every = [key for key, option in catalog.settings.items() if applies(catalog, option, answers)]
    (tmp_path / "answers.toml").write_text("[project]\nname = 'project'\n")
    options = {
        "yes": ["--yes"],
        "recipe": ["--recipe", "minimal"],
        "file": ["--answers", str(tmp_path / "answers.toml")],
        "settings": [f"--set={key}={as_typed(answers[key])}" for key in every],
    }
    result = new_with_input(tmp_path, "printf 'foo\\n' |", *options[way])
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "dialogue" / "project" / "train.py").is_file()


def test_an_update_asks_in_a_terminal_alone(tmp_path: Path) -> None:
    assert new_with_input(tmp_path, "< /dev/null").returncode == 0
    for stdin in ("< /dev/null", "echo net |"):
        result = new_with_input(tmp_path, stdin, command="update project --ask")
        assert (result.returncode, result.stdout) == (2, "")
        assert "--ask needs a terminal" in result.stderr and "--set" in result.stderr


ASK = """
import json, sys
from pathlib import Path
from scaffold.answers.resolve import resolve
from scaffold.answers.dialogue import ask_answers
from scaffold.answers.manifests import load_catalog

catalog = load_catalog()
given, previous = json.loads(sys.argv[1]), resolve(catalog, json.loads(sys.argv[2]))
answers = ask_answers(catalog, given, Path("project").absolute(), previous)
Path("answers.json").write_text(json.dumps(answers))
"""
PREVIOUS = {
    "project.name": "net",
    "hardware.num_processes": 4,
    "training.epochs": 7,
    "training.weight_decay": 0.1,
    "features.best_model.enabled": False,
    "features.clipping.max_norm": 2.5,
    "features.ema.enabled": True,
    "features.ema.decay": 0.9,
    "features.schedule.kind": "wsd",
    "features.schedule.decay": 0.4,
    "features.tracker.enabled": True,
}


def start_update(start: Start, **given: Any) -> Terminal:
    given = {**TASK, **{key.replace("__", "."): value for key, value in given.items()}}
    return start(json.dumps(given), json.dumps(PREVIOUS), command=("-c", ASK))


def answered(terminal: Terminal) -> Any:
    return json.loads((terminal.folder / "answers.json").read_text())


def resolved(**changes: Any) -> Answers:
    given = {key.replace("__", "."): value for key, value in changes.items()}
    return resolve(load_catalog(), {**PREVIOUS, **given})


def test_enter_all_the_way_changes_nothing_in_an_update(start: Start) -> None:
    terminal = start_update(start)
    terminal.wait("(project.name) [net]")
    terminal.repeat(ENTER, until="(hardware.num_processes) [4]")
    terminal.repeat(ENTER, until="(training.epochs) [7]")
    terminal.repeat(ENTER, until="Which features?")
    terminal.wait("● ema", "● tracker", "○ best_model", "● clipping")
    terminal.repeat(ENTER, until="(features.schedule.kind)")
    terminal.wait("» wsd")
    terminal.repeat(ENTER, until="Show the advanced settings?")
    terminal.wait("keep them as they are")
    terminal.repeat(ENTER, until=UPDATE)
    assert f"{UPDATE}{terminal.folder / 'project'}?" in terminal.text
    assert "update it" in terminal.text and "change nothing" in terminal.text
    assert "rite" not in terminal.question().replace("project", "")
    assert "(was" not in terminal.text and "turned on" not in terminal.text
    assert terminal.finish(ENTER) == 0
    assert answered(terminal) == resolved()


@pytest.mark.every_run
def test_an_update_shows_what_changes(start: Start) -> None:
    terminal = start_update(start, training__batch_size=8)
    terminal.answer("(project.name)", "mesh")
    terminal.choose("(hardware.distributed_type)", "NO")
    terminal.repeat(ENTER, until="(training.epochs)")
    terminal.answer("(training.epochs) [7]", "9")
    assert "batch_size" not in terminal.wait("(training.optimizer)")
    terminal.repeat(ENTER, until="Which features?")
    terminal.switch("ema")
    terminal.switch("best_model")
    terminal.press(ENTER, "○ ema", "● best_model")
    terminal.repeat(ENTER, until="(features.tracker.project) [mesh]")
    terminal.press(ENTER)
    terminal.press("y", "Show the advanced settings?")
    terminal.repeat(ENTER, until="(training.weight_decay)")
    terminal.answer("(training.weight_decay) [0.1]", "0.2")
    terminal.answer("(training.max_steps) [0]")
    terminal.repeat(ENTER, until="(features.clipping.max_norm) [2.5]")
    terminal.repeat(ENTER, until=UPDATE)
    for change in ("epochs=9 (was 7)", "batch_size=8 (was 32)", "weight_decay=0.2 (was 0.1)"):
        assert change in " ".join(terminal.text.split()), "wherever the line is broken"
    assert "num_processes=1 (was 4)" in terminal.text
    assert re.search(r"features.best_model +turned on", terminal.text)
    assert terminal.text.count("(was ") == 7, "the name, the tracker's and distributed_type too"
    assert terminal.finish(ENTER) == 0
    expected = resolved(
        project__name="mesh",
        hardware__distributed_type="NO",
        hardware__num_processes=1,
        training__epochs=9,
        training__batch_size=8,
        training__weight_decay=0.2,
        features__ema__enabled=False,
        features__best_model__enabled=True,
    )
    found = answered(terminal)
    assert found.pop("features.ema.decay") == 0.99, "has no effect"
    assert expected.pop("features.ema.decay") == 0.9
    assert found == expected


@pytest.mark.sweep
def test_leaving_an_update_answers_nothing(start: Start) -> None:
    terminal = start_update(start)
    terminal.repeat(ENTER, until="(training.epochs)")
    assert terminal.finish(CTRL_C) == 0
    assert answered(terminal) is None
