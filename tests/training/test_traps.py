"""The traps of a training loop, each with a test that shows that projects stay out of it."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.recipes import recipe_answers
from support.files import write_files
from support.rendering import render
from support.training import run_python, start, succeed, tell

pytestmark = pytest.mark.train

# settings of the shared runs: 3 steps per epoch
SHORT = {"epochs": 2, "limit_batches": 3, "batch_size": 16, "log_every": 1}
BY_STEPS = {**SHORT, "checkpoint_unit": "steps", "checkpoint_every": 2, "keep_checkpoints": 0}

# Several runs in one process. The result of each: what it printed, and the status or the error
RUNS = """
import contextlib, io, json, sys
from pathlib import Path
import train

def run(**settings):
    printed = io.StringIO()
    settings["output_dir"] = Path(settings["output_dir"])
    with contextlib.redirect_stdout(printed):
        try:
            train.main(train.Config(**settings))
            status = 0
        except SystemExit as stop:
            status = stop.code
        except Exception as error:
            status = type(error).__name__
    return {"out": printed.getvalue(), "status": status}
"""
RUN_ALL = f"{RUNS}\nprint(json.dumps([run(**settings) for settings in json.loads(sys.argv[1])]))"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default project, with early stopping and the best model."""
    given: dict[str, Value] = {
        "features.early_stopping.enabled": True,
        "features.best_model.enabled": True,
    }
    return write_files(tmp_path_factory.mktemp("traps") / "project", render(given))


def run_all(project: Path, *runs: Mapping[str, object]) -> list[dict[str, Any]]:
    """Train once for each of these settings."""
    found: list[dict[str, Any]] = tell(project, RUN_ALL, json.dumps(runs))
    return found


def steps(run: Mapping[str, Any]) -> list[int]:
    """The numbers of the steps that a run has logged."""
    rows = [line for line in run["out"].splitlines() if line.startswith("step ")]
    return [int(row.split()[1].partition("/")[0]) for row in rows]


def weights(project: Path, folder: str) -> bytes:
    return (project / folder / "model.safetensors").read_bytes()


def saved(project: Path, folder: str) -> list[str]:
    return sorted(path.name for path in (project / folder).glob("checkpoint_*[0-9]"))


# --- 0 means off ---------------------------------------------------------------------------------

NEVER_BETTER = {**SHORT, "epochs": 3, "min_delta": 1e9, "checkpoint_every": 0}
BRIEF = {**SHORT, "checkpoint_every": 0}
# the settings of a run, and the steps that it logs
ZERO: dict[str, tuple[dict[str, object], int]] = {
    "patience=0": ({**NEVER_BETTER, "patience": 0}, 9),
    "patience=1": ({**NEVER_BETTER, "patience": 1}, 6),  # the second epoch is no better
    "max_grad_norm=0": ({**BRIEF, "max_grad_norm": 0.0}, 6),
    "max_grad_norm=1e-3": ({**BRIEF, "max_grad_norm": 1e-3}, 6),
    "keep_checkpoints=0": ({**BY_STEPS, "checkpoint_every": 1, "keep_checkpoints": 0}, 6),
    "keep_checkpoints=1": ({**BY_STEPS, "checkpoint_every": 1, "keep_checkpoints": 1}, 6),
    "log_every=0": ({**BY_STEPS, "log_every": 0, "checkpoint_every": 0}, 0),
    "max_steps=0": ({**BRIEF, "max_steps": 0, "max_grad_norm": 1e9}, 6),
    "max_steps=4": ({**BRIEF, "max_steps": 4}, 4),
    # 1437 images in batches of 128
    "limit_batches=0": ({**BRIEF, "epochs": 1, "batch_size": 128, "limit_batches": 0}, 11),
}


@pytest.fixture(scope="module")
def zero(project: Path) -> dict[str, dict[str, Any]]:
    """A run for each of the settings above, in a folder of its name."""
    runs = [{**settings, "output_dir": name} for name, (settings, _) in ZERO.items()]
    found = dict(zip(ZERO, run_all(project, *runs), strict=True))
    assert all(run["status"] == 0 and "done | " in run["out"] for run in found.values()), found
    return found


@pytest.mark.parametrize("name", ZERO)
def test_0_means_off(name: str, zero: dict[str, Any]) -> None:
    """For patience, the number of steps and of batches, and how often steps are printed."""
    assert steps(zero[name]) == list(range(1, 1 + ZERO[name][1]))
    assert zero[name]["out"].count("train_loss") >= 1, "epochs are printed"


def test_max_grad_norm_0_changes_no_gradient(zero: dict[str, Any], project: Path) -> None:
    off = weights(project, "max_grad_norm=0")
    assert off == weights(project, "max_steps=0"), "no norm is above 1e9"
    assert off != weights(project, "max_grad_norm=1e-3")
    assert "| grad_norm " not in zero["max_grad_norm=0"]["out"]


@pytest.mark.usefixtures("zero")
def test_0_keeps_all_checkpoints_and_saves_one_at_the_end(project: Path) -> None:
    assert len(saved(project, "keep_checkpoints=0")) == 6
    assert saved(project, "keep_checkpoints=1") == ["checkpoint_00000006"]
    assert saved(project, "log_every=0") == ["checkpoint_00000006"]


# --- values that are not allowed -----------------------------------------------------------------

WRONG = {
    "--batch-size 0": "at least 1",
    "--seed -1": "from 0 to 2147483647",
    "--num-workers -1": "at least 0",
    "--learning-rate nan": "at least 1e-12",
    "--epochs 0": "at least 1",
    "--epochs abc": "int",
    "--warmup-ratio 2": "from 0 to 1",
    "--patience -1": "at least 0",
    "--max-grad-norm inf": "at least 0",
    "--log-every -1": "at least 0",
    "--limit-batches -1": "at least 0",
    "--checkpoint-unit days": "invalid choice",
}
# Each command line in turn. Data must not be touched, nor a seed be set
PARSE = """
import contextlib, io, json, runpy, sys
import data, torch

def touch(*given):
    raise AssertionError("data was touched")

data.build_loaders = torch.manual_seed = touch
found = {}
for flags in json.loads(sys.argv[1]):
    sys.argv = ["train.py", *flags.split()]
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        try:
            runpy.run_path("train.py", run_name="__main__")
        except SystemExit as stop:
            found[flags] = [stop.code, printed.getvalue()]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def refused(project: Path) -> dict[str, tuple[int, str]]:
    """The status and the standard error of each command line."""
    found = tell(project, PARSE, json.dumps(list(WRONG)))
    return {flags: (status, err) for flags, (status, err) in found.items()}


@pytest.mark.parametrize("flags", WRONG)
def test_a_value_that_is_not_allowed_ends_with_one_line(
    flags: str, refused: dict[str, tuple[int, str]]
) -> None:
    status, err = refused[flags]
    assert status == 2
    flag, value = flags.split()
    for part in (flag.removeprefix("--").replace("-", "_"), value, WRONG[flags]):
        assert part in err.replace("--", "").replace(flag.removeprefix("--"), part), err
    assert "Traceback" not in err


# --- branches ------------------------------------------------------------------------------------

# A run that ends as if killed as soon as it has saved the checkpoint of a step
KILLED = """
import os, sys
from pathlib import Path
import train

def die(checkpoints):
    save(checkpoints)
    if checkpoints.progress.step == 4:
        os._exit(9)  # nothing is cleaned up

save, train.Checkpoints.save = train.Checkpoints.save, die
settings = eval(sys.argv[1])
train.main(train.Config(**{**settings, "output_dir": Path(settings["output_dir"])}))
"""


def branch_off(project: Path, folder: str) -> dict[str, Any]:
    """Train to the end, resume the first checkpoint in another folder, and kill that run.

    Returns the settings of the killed run.
    """
    [first] = run_all(project, {**BY_STEPS, "output_dir": f"{folder}_whole"})
    assert first["status"] == 0
    assert saved(project, f"{folder}_whole") == [f"checkpoint_0000000{step}" for step in (2, 4, 6)]
    settings = {**BY_STEPS, "max_grad_norm": 0.1, "output_dir": folder}
    killed = {**settings, "resume": f"{folder}_whole/checkpoint_00000002"}
    result = run_python(project, ["-c", KILLED, repr(killed)], timeout=120)
    assert result.returncode == 9, result.stderr
    assert saved(project, folder) == ["checkpoint_00000004"]
    return settings


def test_a_killed_run_resumes_its_own_branch(project: Path) -> None:
    """Not that of the run that it branched off, which is farther."""
    settings = branch_off(project, "branch")
    alone = {**settings, "resume": "branch_whole/checkpoint_00000002", "output_dir": "alone"}
    resumed, whole = run_all(project, {**settings, "resume": "newest"}, alone)
    assert "branch/checkpoint_00000004 at step 4" in resumed["out"]
    assert whole["status"] == resumed["status"] == 0
    assert weights(project, "branch") == weights(project, "alone")
    assert saved(project, "branch") == [f"checkpoint_0000000{step}" for step in (4, 6)]
    assert saved(project, "branch_whole") == [f"checkpoint_0000000{step}" for step in (2, 4, 6)]


def test_a_branch_has_no_weights_of_the_run_that_it_left(project: Path) -> None:
    """Until it has its own, predict.py, evaluate.py and share.py find none in its folder."""
    branch_off(project, "unfinished")
    assert (project / "unfinished_whole/model.safetensors").exists()
    assert not (project / "unfinished/model.safetensors").exists()


@pytest.mark.usefixtures("zero")
def test_config_json_belongs_to_the_weights_beside_it(project: Path) -> None:
    """Also while a finished run is continued with other settings, and after it was killed."""
    [whole] = run_all(project, {**BY_STEPS, "output_dir": "described"})
    assert whole["status"] == 0
    before = (project / "described/config.json").read_bytes()
    longer = {**BY_STEPS, "epochs": 3, "log_every": 2, "output_dir": "described"}
    code = KILLED.replace("step == 4", "step == 8")
    killed = {**longer, "resume": "newest"}
    assert run_python(project, ["-c", code, repr(killed)], timeout=120).returncode == 9
    assert (project / "described/config.json").read_bytes() == before
    [again] = run_all(project, killed)
    assert again["status"] == 0
    settings = json.loads((project / "described/config.json").read_text())["settings"]
    assert settings["log_every"] == 2


# --- how far a run goes --------------------------------------------------------------------------


def test_fewer_steps_end_a_resumed_run_at_once(project: Path) -> None:
    first, again = run_all(
        project,
        {**BY_STEPS, "max_steps": 5, "output_dir": "fewer"},
        {**BY_STEPS, "max_steps": 3, "output_dir": "fewer", "resume": "newest"},
    )
    assert steps(first) == [1, 2, 3, 4, 5]
    assert again["status"] == 0 and steps(again) == []
    assert "resumed from fewer/checkpoint_00000005 at step 5" in again["out"]
    assert "done | " in again["out"]
    assert saved(project, "fewer") == [f"checkpoint_0000000{step}" for step in (2, 4, 5)]


@pytest.mark.parametrize("most", [2, 3, 4])
def test_max_steps_leave_out_the_epochs_that_would_follow(most: int, project: Path) -> None:
    """Of 4 epochs of 3 steps, whether they end within an epoch, at its end, or in the next one."""
    settings = {**SHORT, "epochs": 4, "max_steps": most, "output_dir": f"most_{most}"}
    [run] = run_all(project, settings)
    assert steps(run) == list(range(1, 1 + most))
    epochs = [line.split()[1] for line in run["out"].splitlines() if line.startswith("epoch ")]
    assert epochs == {2: ["0.66667/4"], 3: ["1/4"], 4: ["1/4", "1.3333/4"]}[most]


def test_a_break_of_the_owner_ends_only_that_epoch(project: Path, tmp_path: Path) -> None:
    """The next epoch starts at its first batch, also when a checkpoint is resumed."""
    copy = shutil.copytree(project, tmp_path / "copy")
    text = (copy / "train.py").read_text()
    count = "            progress.step += 1\n"
    own = "            print('batch', progress.batch)\n            if progress.batch == 2:\n"
    assert text.count(count) == 1
    (copy / "train.py").write_text(text.replace(count, f"{count}{own}                break\n"))
    settings = {**SHORT, "keep_checkpoints": 0}
    run, resumed = run_all(
        copy,
        {**settings, "output_dir": "broken"},
        {**settings, "output_dir": "resumed", "resume": "broken/checkpoint_00000002"},
    )
    for each, epochs in ((run, 2), (resumed, 1)):
        assert each["status"] == 0
        own_lines = [line for line in each["out"].splitlines() if line.startswith("batch ")]
        assert own_lines == ["batch 1", "batch 2"] * epochs
    assert weights(copy, "broken") == weights(copy, "resumed")
    assert saved(copy, "broken") == ["checkpoint_00000002", "checkpoint_00000004"]


def test_an_early_stop_within_an_epoch_can_be_continued(tmp_path: Path) -> None:
    """The next run trains the rest of that epoch. And a search of rates is not stopped at all."""
    on = ("early_stopping", "evaluation_by_steps", "lr_finder")
    given: dict[str, Value] = {f"features.{name}.enabled": True for name in on}
    project = write_files(tmp_path / "project", render(given))
    never = {**SHORT, "epochs": 1, "limit_batches": 4, "evaluate_every": 1, "min_delta": 1e9}
    first, rest = run_all(
        project,
        {**never, "patience": 2, "output_dir": "stopped"},
        {**never, "patience": 0, "output_dir": "stopped", "resume": "newest"},
    )
    assert steps(first) == [1, 2, 3] and steps(rest) == [4]
    search = ["lr_finder.py", "--patience", "2", "--evaluate-every", "5", "--min-delta", "1e9"]
    for _ in range(2):  # a second search may follow in the same folder
        result = succeed(start(project, [*search, "--output-dir", "search"], 1))
        assert "suggested: " in result.stdout
    rows = (project / "search/lr_finder/metrics.jsonl").read_text().splitlines()
    assert sum("lr" in json.loads(row) for row in rows) == 100


def test_too_few_batches_for_a_step_are_refused_with_what_helps(tmp_path: Path) -> None:
    given: dict[str, Value] = {"training.gradient_accumulation_steps": 8}
    project = write_files(tmp_path / "project", render(given))
    [run] = run_all(project, {"limit_batches": 5, "output_dir": "few"})
    assert run["status"].startswith("Each process needs 8 full batches for one step")
    assert run["status"].endswith("check --limit-batches.")


def test_a_lock_without_a_process_is_ignored(project: Path) -> None:
    """Such as that of a process which was killed while it wrote it."""
    (project / "unlocked").mkdir()
    (project / "unlocked/run.lock").touch()
    [run] = run_all(project, {**SHORT, "epochs": 1, "output_dir": "unlocked"})
    assert run["status"] == 0


# --- how a run trains ----------------------------------------------------------------------------


ORDERS = """
import json, train
from data import build_loaders

first = [next(iter(build_loaders(train.Config(seed=seed))[0])) for seed in (0, 1, 0)]
print(json.dumps([labels.tolist() for _, labels in first]))
"""


def test_the_seed_decides_the_order_of_the_data_in_the_minimal_loop(tmp_path: Path) -> None:
    given = recipe_answers(load_catalog(), "minimal")
    one, other, again = tell(write_files(tmp_path / "minimal", render(given)), ORDERS)
    assert one == again != other


def test_too_few_samples_for_a_batch_end_the_minimal_loop_with_one_line(tmp_path: Path) -> None:
    project = write_files(tmp_path, render(recipe_answers(load_catalog(), "minimal")))
    result = start(project, ["train.py", "--batch-size", "5000"], 1)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert result.stderr.strip().endswith("one full batch: use a smaller --batch-size.")


# --- what is saved, and read again ---------------------------------------------------------------


LACKING = """
import json
from pathlib import Path
from accelerate import Accelerator
from weights import load_weights
from model import build_model
from safetensors.torch import save_file

model = build_model(None)
removed, *others = state = model.state_dict()
save_file({name: state[name] for name in others}, "missing.safetensors")
try:
    load_weights(Accelerator(), model, Path("missing.safetensors"))
except SystemExit as error:
    print(json.dumps([removed, str(error)]))
"""


def test_load_weights_refuses_a_missing_key(project: Path) -> None:
    removed, said = tell(project, LACKING)
    assert "Missing key" in said and removed in said


def test_settings_are_saved_with_the_results_and_in_checkpoints(project: Path) -> None:
    flags = ["--epochs", "1", "--limit-batches", "2", "--seed", "7", "--output-dir", "recorded"]
    succeed(start(project, ["train.py", *flags], 1))
    [checkpoint] = saved(project, "recorded")
    for folder in ("recorded", f"recorded/{checkpoint}"):
        config = json.loads((project / folder / "config.json").read_text())
        assert config["settings"]["seed"] == 7 and config["settings"]["limit_batches"] == 2
        assert config["settings"]["learning_rate"] == 0.001, "those that were not given, too"
        assert config["command"][1:] == flags
        assert {"torch", "accelerate"} <= config["versions"].keys()
        assert all(config["versions"].values())
        assert config["settings"]["processes"] == 1


@pytest.fixture(scope="module")
def done(project: Path) -> str:
    """The folder of a run that can be resumed."""
    [run] = run_all(project, {**SHORT, "epochs": 1, "output_dir": "done"})
    assert run["status"] == 0
    return "done"


def test_a_resume_into_the_folder_of_another_run_is_refused(project: Path, done: str) -> None:
    full = {**SHORT, "limit_batches": 0, "max_steps": 3, "output_dir": "finished"}
    [other] = run_all(project, full)
    assert other["status"] == 0
    names = ("metrics.jsonl", "best.safetensors", "config.json")
    before = [(project / "finished" / name).read_bytes() for name in names]
    resumed = {**SHORT, "output_dir": "finished", "resume": f"{done}/checkpoint_00000003"}
    [run] = run_all(project, resumed)
    assert run["status"].endswith(": choose another --output-dir."), run
    assert [(project / "finished" / name).read_bytes() for name in names] == before


def test_a_copy_with_a_name_of_its_own_is_no_checkpoint(project: Path, done: str) -> None:
    """It is not taken for the newest, and not deleted among the oldest."""
    shutil.copytree(project / done, project / "copied")
    own = project / "copied/checkpoint_original"
    shutil.copytree(project / "copied/checkpoint_00000003", own)
    settings = {**SHORT, "output_dir": "copied", "resume": "newest", "keep_checkpoints": 1}
    [run] = run_all(project, settings)
    assert "resumed from copied/checkpoint_00000003 at step 3" in run["out"]
    assert saved(project, "copied") == ["checkpoint_00000006"] and own.is_dir()
    assert "moved to" not in run["out"]


def test_flags_of_a_resumed_run_are_those_that_are_given(project: Path, done: str) -> None:
    """parse_config() with arguments of its own does not look at those of the script."""
    code = "from config import parse_config; "
    code += f"given = ['--resume', '--epochs', '5', '--output-dir', '{done}']; "
    code += "config = parse_config('', given); print(config.epochs, config.resume)"
    result = run_python(project, ["-c", code, "--epochs", "7"])
    assert result.stdout == f"5 {done}/checkpoint_00000003\n", result.stderr


def test_a_resume_refuses_what_changes_the_batches(project: Path, done: str) -> None:
    changes = {"limit_batches": 2, "batch_size": 8, "seed": 1, "weight_decay": 0.5}
    changes |= {"learning_rate": 0.1}
    runs = [{**SHORT, name: value} for name, value in changes.items()]
    same = {"output_dir": done, "resume": "newest"}
    for name, run in zip(changes, run_all(project, *({**r, **same} for r in runs)), strict=True):
        old = {**SHORT, "seed": 0, "weight_decay": 0.01, "learning_rate": 0.001}[name]
        said = f"{name} was {old}, not {changes[name]}, and can't change: "
        assert said in run["status"]
        assert steps(run) == []


OTHER_DATA = """
count = train.count_steps

def count_more(*given):
    batches, steps = count(*given)
    return batches + 1, steps

train.count_steps = count_more
print(json.dumps(run(**json.loads(sys.argv[1]))["status"]))
"""


def test_a_resume_with_other_data_is_refused(project: Path, done: str) -> None:
    """Their batches would differ from those of the run."""
    settings = {**SHORT, "output_dir": done, "resume": "newest"}
    said = tell(project, RUNS + OTHER_DATA, json.dumps(settings))
    assert said == "An epoch had 3 batches, and now has 4: start a new run."


OTHER_DISK = """
from accelerate import Accelerator

save_state = Accelerator.save_state

def save_elsewhere(accelerator, folder, **more):
    save_state(accelerator, folder, **more)
    (Path(folder) / "random_states_0.pkl").unlink()

Accelerator.save_state = save_elsewhere
print(json.dumps(run(**json.loads(sys.argv[1]))["status"]))
"""


def test_processes_without_a_common_disk_are_told_so(tmp_path: Path) -> None:
    """When the first checkpoint is saved, and not when it is needed."""
    given: dict[str, Value] = {"hardware.launcher": "torchrun", "hardware.num_processes": 2}
    project = write_files(tmp_path / "project", render(given))
    settings = {**SHORT, "epochs": 1, "output_dir": "apart"}
    said = tell(project, RUNS + OTHER_DISK, json.dumps(settings))
    assert said == "apart must be on a disk that all processes share."
    assert saved(project, "apart") == []


# What goes wrong while a checkpoint is saved or loaded, and the error with which the run ends
FAULTS = """
import errno
import torch
from accelerate import Accelerator

settings = [json.loads(given) for given in sys.argv[1:]]
found = []
for error in (
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
    OSError(errno.ENOSPC, "No space left on device"),
    RuntimeError("PytorchStreamWriter failed writing file"),
):
    def fail(*given, error=error, **more):
        raise error
    Accelerator.save_state = Accelerator.load_state = fail
    settings[0]["output_dir"] += "+"  # best.safetensors of the last one is there
    found.append([run(**each)["status"] for each in settings])
print(json.dumps(found))
"""


def test_a_fault_is_raised_as_it_is(project: Path, done: str) -> None:
    """Nothing is taken for a full disk, or for a checkpoint that does not fit."""
    save = {**SHORT, "epochs": 1, "output_dir": "faults"}
    load = {**SHORT, "output_dir": done, "resume": "newest"}
    found = tell(project, RUNS + FAULTS, json.dumps(save), json.dumps(load))
    assert found == [[name] * 2 for name in ("OutOfMemoryError", "OSError", "RuntimeError")]


# --- signals -------------------------------------------------------------------------------------

INTERRUPTED = """
import os, runpy, signal, sys
from metrics import Progress

def interrupt(progress, number):
    vars(progress)["step"] = number
    if number == step + 1:
        os.kill(os.getpid(), signal.SIGINT)

Progress.step = property(lambda progress: vars(progress).get("step", 0), interrupt)
step = int(sys.argv.pop(1))
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "train.py"
runpy.run_path("train.py", run_name="__main__")
"""


def interrupt(project: Path, step: int, folder: str) -> subprocess.CompletedProcess[str]:
    flags = ["--limit-batches", "4", "--output-dir", folder]
    flags += ["--checkpoint-unit", "steps", "--checkpoint-every", "2"]
    return run_python(project, ["-c", INTERRUPTED, str(step), *flags], timeout=120)


def test_an_interrupted_run_says_what_is_saved(project: Path) -> None:
    """Ctrl-C without the feature preemption."""
    result = interrupt(project, 3, "interrupted")
    assert result.returncode == 130
    assert result.stdout.endswith("Interrupted. Saved: interrupted/checkpoint_00000002\n")
    early = interrupt(project, 1, "early")
    assert early.returncode == 130
    assert early.stdout.endswith("Interrupted. Saved: nothing\n")
