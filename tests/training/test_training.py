"""Rendered projects really train: each feature, on 1, 2 and 3 processes, to the stated result."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from support.combinations import as_many_as_possible, given_for, in_turns
from support.files import write_files
from support.rendering import render
from support.training import (
    COUNT_THREADS,
    assert_the_group_has_ended,
    clean_environment,
    count_passed,
    count_processes,
    fail,
    run,
    run_tests,
    start,
)

pytestmark = pytest.mark.train

CATALOG = load_catalog()
COMBINATIONS: dict[str, Mapping[str, Value]] = {
    "none": given_for(CATALOG, []),
    "all": {
        **given_for(CATALOG, as_many_as_possible(CATALOG)),
        "features.learning_curves.enabled": False,  # drawing takes longer than two short epochs
    },
}


def test_accelerate_launch_starts_all_processes(tmp_path: Path) -> None:
    """The command in the README of a project for several processes on the CPU."""
    project = write_files(tmp_path / "project", render({"hardware.distributed_type": "MULTI_CPU"}))
    command = "accelerate launch --config_file accelerate.yaml train.py"
    assert command in (project / "README.md").read_text()
    program = Path(sys.executable).with_name("accelerate")
    result = subprocess.run(
        [program, *command.split()[1:], "--max-steps", "3"],
        cwd=project,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, result.stderr
    assert count_processes(result.stdout) == 2


LEAVE = """
import train
from config import parse_config

def evaluate(*given):
    during.append(count_threads())
    return evaluate_as_it_is(*given)

evaluate_as_it_is, train.evaluate = train.evaluate, evaluate
train.main(parse_config(""))
print_threads()
"""


@pytest.mark.parametrize("label", in_turns(COMBINATIONS, 2))
def test_the_process_group_ends_with_the_training(label: str, tmp_path: Path) -> None:
    """Its threads would still run while Python shuts down, where they can abort the process."""
    project = write_files(tmp_path / "project", render(COMBINATIONS[label]))
    (project / "leave.py").write_text(COUNT_THREADS + LEAVE)
    result = start(project, ["leave.py", "--epochs", "1", "--limit-batches", "2"], 2)
    assert_the_group_has_ended(result)


EVALUATE = """
import json, sys, torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Subset
from data import build_loaders
from model import build_model
from train import Config, evaluate

accelerator = Accelerator(cpu=True)
set_seed(0)
model = accelerator.prepare(build_model(None))
data = build_loaders(Config(batch_size=32))[1].dataset
found = {}
for size in map(int, sys.argv[2:]):
    for batch_size in (1, 8, 32):
        loader = accelerator.prepare(DataLoader(Subset(data, range(size)), batch_size))
        metrics = evaluate(accelerator, model, loader, "val", 0)
        found[f"{size} {batch_size}"] = [metrics["val_loss"], metrics["val_accuracy"]]
if accelerator.is_main_process:
    print(json.dumps({"processes": accelerator.num_processes, "found": found}))
    torch.save(model.state_dict(), sys.argv[1])
model = accelerator.free_memory(model)
accelerator.end_training()
"""


@pytest.mark.every_run
def test_evaluation_is_the_same_on_1_2_and_3_processes(
    tmp_path: Path, proven: Callable[[str, int], None]
) -> None:
    project = write_files(tmp_path / "project", render({}))
    (project / "evaluate_sizes.py").write_text(EVALUATE)
    sizes = [1, 2, 3, 7, 31, 33, 65, 97, 143, 179]
    found = {}
    for processes in (1, 2, 3):
        script = ["evaluate_sizes.py", f"weights{processes}.pt", *map(str, sizes)]
        facts = json.loads(run(project, *script, processes=processes).splitlines()[-1])
        assert facts["processes"] == processes
        found |= {f"{processes} {case}": metrics for case, metrics in facts["found"].items()}
    for case, metrics in found.items():
        expected = found[f"1 {case.split()[1]} 32"]
        assert metrics == pytest.approx(expected, rel=1e-6, abs=1e-6), case
    assert len(found) == 90
    proven("evaluations: sizes x batch sizes x processes", len(found))


FORGOTTEN = {"WORLD_SIZE": "4", "ACCELERATE_USE_CPU": "false"}  # and nothing else of a launcher


@pytest.mark.every_run
def test_refuses_processes_that_would_train_alone(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", render({}))
    assert "The processes are not connected." in fail(project, "train.py", **FORGOTTEN)
    assert not (project / "runs").exists()


def test_refuses_accumulation_from_the_environment(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", render({}))
    result = fail(project, "train.py", ACCELERATE_GRADIENT_ACCUMULATION_STEPS="4")
    assert "Unset ACCELERATE_GRADIENT_ACCUMULATION_STEPS" in result


def test_refuses_fp16_on_the_cpu(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", render({"hardware.mixed_precision": "fp16"}))
    assert "fp16 has no effect on the CPU" in fail(project, "train.py")


def test_a_skipped_step_does_not_count(tmp_path: Path) -> None:
    """What can be shown of fp16 without a GPU: the loop does not count what the scaler skips."""
    given = {"hardware.mixed_precision": "fp16"}
    project = write_files(tmp_path / "project", render(given))
    assert count_passed(run_tests(project, "-k", "skipped")) == 1


FAILS = """
import train

def fail(text):
    if text.startswith("step 2/"):
        raise ValueError("a fault in the second step")

train.log = fail
train.main(train.Config(num_workers=2, log_every=1))
"""


def test_a_run_that_fails_ends_its_data_workers(tmp_path: Path) -> None:
    """They take no signal but the training's own, which Python sends them when it ends."""
    feature = "features.data_loading"
    given = {f"{feature}.enabled": True, f"{feature}.persistent_workers": True}
    project = write_files(tmp_path / "project", render(given))
    (project / "fails.py").write_text(FAILS)
    result = start(project, ["fails.py"], timeout=60)
    assert result.returncode == 1 and "a fault in the second step" in result.stderr


SEARCHES = """
import json, runpy, sys
from importlib.machinery import PathFinder
from torch.optim.optimizer import register_optimizer_step_post_hook

searched, seen = [], []
find_spec = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: searched.append(name) or find_spec(name, *more)
register_optimizer_step_post_hook(lambda *_: seen.append(len(searched)))
sys.argv = ["train.py", "--epochs", "1"]
runpy.run_path("train.py", run_name="__main__")
print(json.dumps([seen, searched[seen[1] : seen[-1]]]))
"""


def test_no_step_looks_for_packages(tmp_path: Path) -> None:
    """Accelerate's optimizer does, at each step, and Python would search the disk every time."""
    project = write_files(tmp_path / "project", render({"features.fast_steps.enabled": True}))
    (project / "searches.py").write_text(SEARCHES)
    seen, between = json.loads(run(project, "searches.py", real=True).splitlines()[-1])
    assert len(seen) > 20 and seen[1] > 100, "nothing was counted"
    assert between == []
