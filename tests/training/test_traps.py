"""The traps of a training loop, each with a test that shows that projects stay out of it."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.recipes import recipe_answers
from support.files import replace_in, write_files
from support.rendering import render
from support.training import fail, run, start, tell

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


def train_all(project: Path, *runs: Mapping[str, object]) -> list[str]:
    """What these runs print, all of which end well."""
    found = run_all(project, *runs)
    assert all(each["status"] == 0 and "done | " in each["out"] for each in found), found
    return [each["out"] for each in found]


def steps(printed: str) -> list[int]:
    """The numbers of the steps that a run has logged."""
    return [int(step) for step in re.findall(r"^step (\d+)/", printed, re.MULTILINE)]


def weights(project: Path, folder: str) -> bytes:
    return (project / folder / "model.safetensors").read_bytes()


def saved(project: Path, folder: str) -> list[int]:
    """The steps of the checkpoints of a run."""
    return sorted(int(path.name[-8:]) for path in (project / folder).glob("checkpoint_*[0-9]"))


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


@pytest.mark.every_run
def test_0_means_off(project: Path) -> None:
    """For patience, norms, checkpoints, the number of steps and of batches, and lines of steps."""
    runs = [{**settings, "output_dir": name} for name, (settings, _) in ZERO.items()]
    printed = dict(zip(ZERO, train_all(project, *runs), strict=True))
    for name, (_, count) in ZERO.items():
        assert steps(printed[name]) == list(range(1, 1 + count)), name
        assert "train_loss" in printed[name], f"{name}: epochs are printed"
    off = weights(project, "max_grad_norm=0")
    assert off == weights(project, "max_steps=0"), "no norm is above 1e9"
    assert off != weights(project, "max_grad_norm=1e-3")
    assert "| grad_norm " not in printed["max_grad_norm=0"]
    assert len(saved(project, "keep_checkpoints=0")) == 6
    for name in ("keep_checkpoints=1", "log_every=0"):
        assert saved(project, name) == [6]


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


@pytest.mark.every_run
def test_a_value_that_is_not_allowed_ends_with_one_line(project: Path) -> None:
    for flags, (status, err) in tell(project, PARSE, json.dumps(list(WRONG))).items():
        assert status == 2 and "Traceback" not in err, flags
        flag, value = flags.split()
        for part in (flag.removeprefix("--").replace("-", "_"), value, WRONG[flags]):
            assert part in err.replace("--", "").replace(flag.removeprefix("--"), part), err


# --- branches ------------------------------------------------------------------------------------

# A run that ends as if killed as soon as it has saved the checkpoint of a step
KILLED = """
import os, sys
from pathlib import Path
import train

def die(checkpoints):
    save(checkpoints)
    if checkpoints.progress.step == int(sys.argv[1]):
        os._exit(9)  # nothing is cleaned up

save, train.Checkpoints.save = train.Checkpoints.save, die
settings = eval(sys.argv[2])
train.main(train.Config(**{**settings, "output_dir": Path(settings["output_dir"])}))
"""


def kill_at(project: Path, step: int, settings: Mapping[str, object]) -> None:
    result = start(project, ["-c", KILLED, str(step), repr(settings)], timeout=120)
    assert result.returncode == 9, result.stderr


def test_a_killed_run_resumes_its_own_branch(project: Path) -> None:
    """Not that of the run that it branched off, which is farther.

    Until it has weights, predict.py, evaluate.py and share.py find none in its folder.
    """
    train_all(project, {**BY_STEPS, "output_dir": "whole"})
    assert saved(project, "whole") == [2, 4, 6]
    settings = {**BY_STEPS, "max_grad_norm": 0.1, "resume": "whole/checkpoint_00000002"}
    kill_at(project, 4, {**settings, "output_dir": "branch"})
    assert saved(project, "branch") == [4]
    assert (project / "whole/model.safetensors").exists()
    assert not (project / "branch/model.safetensors").exists()
    newest = {**settings, "resume": "newest", "output_dir": "branch"}
    resumed, _ = train_all(project, newest, {**settings, "output_dir": "alone"})
    assert "branch/checkpoint_00000004 at step 4" in resumed
    assert weights(project, "branch") == weights(project, "alone")
    assert saved(project, "branch") == [4, 6] and saved(project, "whole") == [2, 4, 6]


def test_config_json_belongs_to_the_weights_beside_it(project: Path) -> None:
    """Also while a finished run is continued with other settings, and after it was killed."""
    train_all(project, {**BY_STEPS, "output_dir": "described"})
    before = (project / "described/config.json").read_bytes()
    longer = {**BY_STEPS, "epochs": 3, "log_every": 2, "output_dir": "described"}
    kill_at(project, 8, {**longer, "resume": "newest"})
    assert (project / "described/config.json").read_bytes() == before
    train_all(project, {**longer, "resume": "newest"})
    settings = json.loads((project / "described/config.json").read_text())["settings"]
    assert settings["log_every"] == 2


# --- how far a run goes --------------------------------------------------------------------------


def test_fewer_steps_end_a_resumed_run_at_once(project: Path) -> None:
    first, again = train_all(
        project,
        {**BY_STEPS, "max_steps": 5, "output_dir": "fewer"},
        {**BY_STEPS, "max_steps": 3, "output_dir": "fewer", "resume": "newest"},
    )
    assert steps(first) == [1, 2, 3, 4, 5]
    assert steps(again) == []
    assert "resumed from fewer/checkpoint_00000005 at step 5" in again
    assert saved(project, "fewer") == [2, 4, 5]


def test_a_break_of_the_owner_ends_only_that_epoch(project: Path, tmp_path: Path) -> None:
    """The next epoch starts at its first batch, also when a checkpoint is resumed."""
    copy = shutil.copytree(project, tmp_path / "copy")
    count = "            progress.step += 1\n"
    own = "            print('batch', progress.batch)\n            if progress.batch == 2:\n"
    replace_in(copy / "train.py", count, f"{count}{own}                break\n")
    settings = {**SHORT, "keep_checkpoints": 0}
    whole, resumed = train_all(
        copy,
        {**settings, "output_dir": "broken"},
        {**settings, "output_dir": "resumed", "resume": "broken/checkpoint_00000002"},
    )
    for printed, epochs in ((whole, 2), (resumed, 1)):
        assert re.findall("^batch .*", printed, re.MULTILINE) == ["batch 1", "batch 2"] * epochs
    assert weights(copy, "broken") == weights(copy, "resumed")
    assert saved(copy, "broken") == [2, 4]


def test_an_early_stop_within_an_epoch_can_be_continued(tmp_path: Path) -> None:
    """The next run trains the rest of that epoch. And a search of rates is not stopped at all."""
    on = ("early_stopping", "evaluation_by_steps", "lr_finder")
    given: dict[str, Value] = {f"features.{name}.enabled": True for name in on}
    project = write_files(tmp_path / "project", render(given))
    never = {**SHORT, "epochs": 1, "limit_batches": 4, "evaluate_every": 1, "min_delta": 1e9}
    first, rest = train_all(
        project,
        {**never, "patience": 2, "output_dir": "stopped"},
        {**never, "patience": 0, "output_dir": "stopped", "resume": "newest"},
    )
    assert steps(first) == [1, 2, 3] and steps(rest) == [4]
    search = ["lr_finder.py", "--patience", "2", "--evaluate-every", "5", "--min-delta", "1e9"]
    for _ in range(2):  # a second search may follow in the same folder
        assert "suggested: " in run(project, *search, "--output-dir", "search")
    rows = (project / "search/lr_finder/metrics.jsonl").read_text().splitlines()
    assert sum("lr" in json.loads(row) for row in rows) == 100


def test_too_few_batches_for_a_step_are_refused_with_what_helps(tmp_path: Path) -> None:
    given: dict[str, Value] = {"training.gradient_accumulation_steps": 8}
    project = write_files(tmp_path / "project", render(given))
    [found] = run_all(project, {"limit_batches": 5, "output_dir": "few"})
    assert found["status"].startswith("Each process needs 8 full batches for one step")
    assert found["status"].endswith("check --limit-batches.")


def test_a_lock_without_a_process_is_ignored(project: Path) -> None:
    """Such as that of a process which was killed while it wrote it."""
    (project / "unlocked").mkdir()
    (project / "unlocked/run.lock").touch()
    train_all(project, {**SHORT, "epochs": 1, "output_dir": "unlocked"})


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
    result = fail(project, "train.py", "--batch-size", "5000")
    assert result.strip().endswith("one full batch: use a smaller --batch-size.")


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
    run(project, "train.py", *flags)
    [step] = saved(project, "recorded")
    for folder in ("recorded", f"recorded/checkpoint_{step:08}"):
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
    train_all(project, {**SHORT, "epochs": 1, "output_dir": "done"})
    return "done"


def test_a_resume_into_the_folder_of_another_run_is_refused(project: Path, done: str) -> None:
    full = {**SHORT, "limit_batches": 0, "max_steps": 3, "output_dir": "finished"}
    train_all(project, full)
    names = ("metrics.jsonl", "best.safetensors", "config.json")
    before = [(project / "finished" / name).read_bytes() for name in names]
    resumed = {**SHORT, "output_dir": "finished", "resume": f"{done}/checkpoint_00000003"}
    [found] = run_all(project, resumed)
    assert found["status"].endswith(": choose another --output-dir."), found
    assert [(project / "finished" / name).read_bytes() for name in names] == before


def test_a_copy_with_a_name_of_its_own_is_no_checkpoint(project: Path, done: str) -> None:
    """It is not taken for the newest, and not deleted among the oldest."""
    shutil.copytree(project / done, project / "copied")
    own = project / "copied/checkpoint_original"
    shutil.copytree(project / "copied/checkpoint_00000003", own)
    settings = {**SHORT, "output_dir": "copied", "resume": "newest", "keep_checkpoints": 1}
    [printed] = train_all(project, settings)
    assert "resumed from copied/checkpoint_00000003 at step 3" in printed
    assert saved(project, "copied") == [6] and own.is_dir() and "moved to" not in printed


def test_a_resume_refuses_what_changes_the_batches(project: Path, done: str) -> None:
    changes = {"limit_batches": 2, "batch_size": 8, "seed": 1, "weight_decay": 0.5}
    changes |= {"learning_rate": 0.1}
    runs = [{**SHORT, name: value} for name, value in changes.items()]
    same = {"output_dir": done, "resume": "newest"}
    for name, found in zip(changes, run_all(project, *({**r, **same} for r in runs)), strict=True):
        old = {**SHORT, "seed": 0, "weight_decay": 0.01, "learning_rate": 0.001}[name]
        said = f"{name} was {old}, not {changes[name]}, and can't change: "
        assert said in found["status"] and steps(found["out"]) == []


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
    """Nothing is taken for a full disk. What keeps a checkpoint from being loaded is one line."""
    save = {**SHORT, "epochs": 1, "output_dir": "faults"}
    load = {**SHORT, "output_dir": done, "resume": "newest"}
    found = tell(project, RUNS + FAULTS, json.dumps(save), json.dumps(load))
    names = ("OutOfMemoryError", "OSError", "RuntimeError")
    assert [save for save, _ in found] == [*names]
    assert found[1][1] == "OSError"
    for _, load in found[::2]:
        assert load.endswith(("Tried to allocate 2 GiB", "PytorchStreamWriter failed writing file"))


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


def test_an_interrupted_run_says_what_is_saved(project: Path) -> None:
    """Ctrl-C without the feature preemption."""
    unit = ["--checkpoint-unit", "steps", "--checkpoint-every", "2", "--limit-batches", "4"]
    for step, kept in (("3", "interrupted/checkpoint_00000002"), ("1", "nothing")):
        folder = kept.partition("/")[0]
        command = ["-c", INTERRUPTED, step, *unit, "--output-dir", folder]
        result = start(project, command, timeout=120)
        assert result.returncode == 130
        assert result.stdout.endswith(f"Interrupted. Saved: {kept}\n")
