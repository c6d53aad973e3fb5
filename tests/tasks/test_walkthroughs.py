"""Recipes, the walk-through on MNIST, and the same model written in three ways."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from scaffold.answers.catalog import Catalog
from scaffold.answers.recipes import load_recipes, recipe_answers
from scaffold.answers.resolve import is_on, resolve
from scaffold.errors import ScaffoldError, TemplateError
from support.command_line import run_cli
from support.inputs import ENVIRONMENT, make_mnist
from support.paths import TEMPLATES
from support.training import (
    COUNT_THREADS,
    assert_the_group_has_ended,
    count_passed,
    count_processes,
    only_in_sweep,
    run,
    run_tests,
    start,
    without_times,
)

SCRIPTS = TEMPLATES / "walkthroughs" / "accelerate"


# recipes


def test_every_recipe_is_complete(catalog: Catalog) -> None:
    assert set(load_recipes()) >= {"minimal", "mnist", "mnist_callback"}
    for name, recipe in load_recipes().items():
        answers = resolve(catalog, {"project.name": "example", **recipe_answers(catalog, name)})
        assert not answers["features.best_model.enabled"], "what a recipe does not name is off"
        assert recipe.title and recipe.help
        if name == "minimal":
            assert answers["project.loop"] == "minimal"
            on = [name for name, part in catalog.features.items() if is_on(part, answers)]
            assert on == ["agents_md"]
        else:
            assert answers["training.eval_batch_size"] == 64
            assert answers["features.torchmetrics.enabled"]


def test_options_win_over_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text("[training]\nbatch_size = 5\nepochs = 6\n")
    arguments = ["new", "project", "--recipe", "mnist", "--answers", "answers.toml"]
    arguments += ["--epochs", "7", "--seed", "8", "--set", "training.seed=9"]
    arguments += ["--set", "hardware.use_cpu=false"]
    result = run_cli(*arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    script = (tmp_path / "project/config.py").read_text()
    for field in ("batch_size: int = 5", "epochs: int = 7", "seed: int = 9"):
        assert re.search(rf"^    {field}\b", script, re.MULTILINE), field
    hardware = (tmp_path / "project/accelerate.yaml").read_text()
    assert "use_cpu: false" in hardware
    assert "num_processes: 2" in hardware


def test_unknown_recipe(catalog: Catalog, tmp_path: Path) -> None:
    result = run_cli("new", "project", "--recipe", "mnits", cwd=tmp_path)
    assert result.returncode == 2
    assert "there is no recipe 'mnits': did you mean mnist?" in result.stderr
    assert not (tmp_path / "project").exists()
    with pytest.raises(ScaffoldError, match="recipes are minimal, mnist, mnist_callback"):
        recipe_answers(catalog, "sandwich")


@pytest.mark.parametrize(
    ("text", "message"),
    [("title = 'no help'", "the field 'help' is missing"), ("title =", "is not valid TOML")],
)
def test_faulty_recipe(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes/faulty.toml").write_text(text)
    with pytest.raises(TemplateError, match=message):
        load_recipes(tmp_path)


# the walk-through on MNIST


@pytest.fixture(scope="module")
def mnist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "MNIST"
    make_mnist(folder / "raw", 60_000, 10)
    return folder


def new_project(folder: Path, mnist: Path, *options: str) -> Path:
    result = run_cli("new", folder, *options, cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    (folder / "data").mkdir()
    (folder / "data/MNIST").symlink_to(mnist)
    return folder


@only_in_sweep
def test_mnist_from_the_beginning(tmp_path: Path, mnist: Path) -> None:
    """The command of each recipe and the one that it prints, on two processes."""
    logs = {}
    for recipe in ("mnist", "mnist_callback"):
        project = new_project(tmp_path / recipe, mnist, "--recipe", recipe)
        command = "accelerate launch --config_file accelerate.yaml train.py"
        assert command in (project / "README.md").read_text()
        program = Path(sys.executable).with_name("accelerate")
        result = subprocess.run(
            [program, *command.split()[1:], "--output-dir", "runs/latest"],
            cwd=project,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert result.returncode == 0, result.stderr
        assert count_processes(result.stdout) == 2
        assert "109,386 parameters | 1562 steps" in result.stdout, "50,000 images twice"
        logs[recipe] = without_times(result.stdout).splitlines()
        lines = (project / "runs/latest/metrics.jsonl").read_text().splitlines()
        *epochs, tested = [row for row in map(json.loads, lines) if "lr" not in row]
        assert epochs[1]["val_accuracy"] > max(epochs[0]["val_accuracy"], 0.8)
        for name in ("loss", "accuracy", "precision", "recall"):
            assert tested[f"test_{name}"] == pytest.approx(epochs[1][f"val_{name}"], abs=0.05)
    measured = [line.split()[0] for line in logs["mnist"] if "accuracy" in line]
    assert measured == ["epoch", "epoch", "done"]
    assert logs["mnist"] == logs["mnist_callback"], "the same lines, wherever torchmetrics is"


@pytest.mark.sweep
def test_mnist_project_proves_itself(tmp_path: Path, mnist: Path) -> None:
    project = new_project(tmp_path / "project", mnist, "--recipe", "mnist")
    count_passed(run_tests(project))


# the same model in three ways


@pytest.mark.train
def test_accelerate_and_ddp_compute_what_plain_pytorch_does() -> None:
    one = {script: run_script([script], 1) for script in ("plain.py", "with_accelerate.py")}
    alone = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=1", "ddp.py"]
    one["ddp.py"] = run_script(alone, 1)
    two = {script: run_script([script], 2) for script in ("with_accelerate.py", "ddp.py")}
    for lines in (*one.values(), *two.values()):
        assert [line.split(" ")[0] for line in lines] == ["epoch"] * 3 + ["correct"]
        assert lines[-1].endswith(" of 1797")
    assert one["plain.py"] == one["with_accelerate.py"] == one["ddp.py"]
    assert two["with_accelerate.py"] == two["ddp.py"]
    assert one["plain.py"] != two["ddp.py"], "two processes see twice as many samples per step"


RUN = """
import runpy, sys
import torch.distributed as dist

def destroy(*given):
    during.append(count_threads())
    return destroy_as_it_is(*given)

sys.setswitchinterval(1000)  # a thread that waits for this one gets its turn as late as can be
destroy_as_it_is, dist.destroy_process_group = dist.destroy_process_group, destroy
runpy.run_path(sys.argv[1])
print_threads()
"""


@pytest.mark.train
@pytest.mark.parametrize("script", ["with_accelerate.py", "ddp.py"])
def test_no_thread_of_the_process_group_is_left(script: str, tmp_path: Path) -> None:
    """It would wait for Python, and Python for it, or abort the process while Python shuts down."""
    (tmp_path / "count.py").write_text(COUNT_THREADS + RUN)
    assert_the_group_has_ended(start(SCRIPTS, [str(tmp_path / "count.py"), script], 2))


def run_script(script: Sequence[str], processes: int) -> list[str]:
    return run(SCRIPTS, *script, processes=processes).splitlines()


def test_explain_accelerate_shows_both_ways(tmp_path: Path) -> None:
    shown = run_cli("explain", "accelerate", cwd=tmp_path).stdout
    assert (SCRIPTS / "plain.py").read_text() in shown
    for line in (
        "--- a/plain.py",
        "+++ b/with_accelerate.py",
        "+        accelerator.backward(loss)",
        "+++ b/ddp.py",
        "+    dist.all_reduce(total)",
    ):
        assert line in shown.splitlines()
