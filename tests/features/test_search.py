"""search.py of a project: trials are runs of train.py, and a search that is killed loses none.

Most tests replace train.py by a stand-in that starts at once and logs a known metric. It waits
where a test tells it to, so that nothing depends on how fast this machine is.
"""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.errors import AnswerError
from support.combinations import FIRST_TASK, in_turns
from support.command_line import run_cli
from support.files import add_answers, replace_in, write_files
from support.rendering import render
from support.training import begin, run, start

FEATURE = {"features.search.enabled": True}
# logs 1 - (learning_rate - 0.05)**2, less in early epochs; notes how each run begins and ends, and
# waits before the epoch in the file "hold"
STAND_IN = """
import json, math, os, signal, sys, time
from pathlib import Path
from config import Config, parse_config

def note(text):
    with open("notes", "a") as file:
        file.write(f"{config.output_dir.name} {text}\\n")


def stop(*_):
    note("stopped")
    raise SystemExit(143)


def wait_before(epoch):
    hold = Path("hold")
    while hold.exists() and hold.read_text() == str(epoch):
        time.sleep(0.02)


def main():
    assert not config.output_dir.exists(), "the folder of another run"
    config.output_dir.mkdir(parents=True)
    note(f"started {os.getpid()}")
    is_first = config.learning_rate == Config.learning_rate
    print("a line of its log")
    if config.fail == "always" or config.fail == "later" and not is_first:
        raise SystemExit("out of memory")
    sign = 1 if METRIC == "val_accuracy" else -1
    with (config.output_dir / "metrics.jsonl").open("w") as file:
        for epoch in range(1, config.epochs + 1):
            wait_before(epoch)
            time.sleep(config.pause)
            quality = 1 - (config.learning_rate - 0.05) ** 2 - 0.1 / epoch + 0.001 * config.seed
            if config.fail == "nan" and not is_first:
                quality = math.nan  # which a run writes as null
            if config.fail == "worse" and not is_first:
                quality -= 5
            value = None if math.isnan(quality) else sign * quality
            for values in ({"loss": 1.0, "lr": 0.1}, {METRIC: value, "lr": 0.1}):
                print(json.dumps({"step": epoch, **values}), file=file, flush=True)
        print(json.dumps({"step": epoch, "test_loss": 0.5 + config.seed}), file=file)
    note("ended")


if __name__ == "__main__":
    config = parse_config("")
    signal.signal(signal.SIGTERM, stop)
    main()
"""


def add_own_fields(config: Path) -> None:
    """One that means nothing, and two that say how a run behaves."""
    last = "    output_dir: Path"
    fields = '    mine: int = 3\n    pause: float = 0.0\n    fail: str = ""\n'
    replace_in(config, last, f"{fields}{last}")


def other_settings(folder: str, changes: str) -> str:
    return (
        f"{folder} has runs with other settings: {changes}. "
        "Use the old ones, or another --output-dir.\n"
    )


class Project:
    """A project whose train.py is the stand-in, without checkpoints."""

    def __init__(self, folder: Path, task: str = FIRST_TASK) -> None:
        given = {"training.epochs": 3, "training.learning_rate": 0.01, "project.task": task}
        off = {"features.checkpoints.enabled": False}
        self.folder = write_files(folder, render({**FEATURE, **off, **given}))
        metric = load_catalog().tasks[task].values["metric"]
        (folder / "train.py").write_text(f"METRIC = {metric!r}\n{STAND_IN}")
        add_own_fields(folder / "config.py")

    def hold(self, epoch: int = 1) -> None:
        """Runs wait before this epoch, until release()."""
        (self.folder / "hold").write_text(str(epoch))

    def release(self) -> None:
        (self.folder / "hold").unlink()

    def start(self, *flags: str, real: bool = False) -> subprocess.Popen[str]:
        return begin(self.folder, ["search.py", *flags], real=real)

    def search(self, *flags: str) -> tuple[int, str, str]:
        process = self.start(*flags)
        out, err = process.communicate(timeout=240)
        return process.returncode, out, err

    @property
    def trials(self) -> list[Any]:
        import optuna

        url = f"sqlite:///{self.folder}/runs/search/first/study.db"
        return optuna.load_study(study_name="search", storage=url).trials

    @property
    def states(self) -> list[str]:
        return [trial.state.name for trial in self.trials]

    def notes(self, text: str) -> list[str]:
        """Which runs noted this, in order."""
        path = self.folder / "notes"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.split()[0] for line in lines if line.split()[1] == text]

    def process(self, run: str) -> int:
        """The process of a run that noted its start."""
        lines = (self.folder / "notes").read_text().splitlines()
        return next(int(line.split()[2]) for line in lines if line.startswith(f"{run} started"))

    def wait_for(self, text: str, count: int) -> None:
        for _ in range(1200):
            if len(self.notes(text)) >= count:
                return
            time.sleep(0.05)
        raise TimeoutError(f"{text}: {self.notes(text)}")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


train = pytest.mark.train


@pytest.mark.parametrize("task", in_turns(load_catalog().tasks, 4))
def test_the_metric_is_that_of_the_task(task: str) -> None:
    """Or the one that decides which weights are best."""
    values = load_catalog().tasks[task].values
    search = render({**FEATURE, "project.task": task})["search.py"]
    direction = "maximize" if values["higher_is_better"] else "minimize"
    assert f'METRIC, DIRECTION = "{values["metric"]}", "{direction}"' in search
    other = {"features.best_model.monitor": "train_loss"}
    search = render({**FEATURE, **other, "project.task": task})["search.py"]
    assert 'METRIC, DIRECTION = "train_loss", "minimize"' in search


@pytest.mark.parametrize("launcher", ["slurm", "trainjob", "pytorchjob", "sagemaker"])
def test_it_starts_runs_on_its_own_machine(launcher: str) -> None:
    given = {**FEATURE, "project.name": "x", "hardware.launcher": launcher}
    with pytest.raises(AnswerError, match="search"):
        resolve(load_catalog(), given)


def test_runs_start_as_the_hardware_needs() -> None:
    assert 'TRAIN = ["train.py"]' in render(FEATURE)["trials.py"]
    several = {"hardware.distributed_type": "MULTI_GPU", "hardware.num_processes": 2}
    script = render({**FEATURE, **several})["trials.py"]
    assert '"accelerate.commands.launch"' in script and '"--main_process_port"' in script
    assert "PROCESSES = 2" in script


@train
@pytest.mark.every_run
@pytest.mark.parametrize("task", in_turns(["own", FIRST_TASK], 2))
def test_a_search_finds_the_best(task: str, tmp_path: Path) -> None:
    """Of a metric that is better when it is higher, and of one that is better when it is lower."""
    project = Project(tmp_path, task)
    code, out, err = project.search("--trials", "6", "--jobs", "3", "--epochs", "2")
    assert (code, err) == (0, "")
    assert set(project.states) <= {"COMPLETE", "PRUNED"}
    assert sorted(project.notes("started")) == [f"trial_{number:04d}" for number in range(6)]
    assert project.trials[0].params["learning_rate"] == 0.01, "the first has the defaults"
    complete = [trial for trial in project.trials if trial.state.name == "COMPLETE"]
    best = min(complete, key=lambda trial: abs(trial.params["learning_rate"] - 0.05))
    rate = best.params["learning_rate"]
    assert f"complete trials is number {best.number}, with" in out
    assert f"python train.py --learning-rate={rate} --weight-decay=" in out
    assert f"scaffold update --set training.learning_rate={rate} --set " in out
    sign = 1 if task == FIRST_TASK else -1
    assert best.value == pytest.approx(sign * (1 - (rate - 0.05) ** 2 - 0.05))
    for name in ("history.png", "importances.png"):
        picture = (project.folder / "runs/search/first" / name).read_bytes()
        assert picture.startswith(b"\x89PNG")
    log = project.folder / "runs/search/first/trial_0003.log"
    assert "a line of its log" in log.read_text()


@train
def test_the_best_settings_become_the_defaults(tmp_path: Path) -> None:
    """With the command that it prints, which keeps comments. A field of one's own is named."""
    folder = tmp_path / "project"
    made = run_cli("new", folder, "--yes", "--set", "features.search=true", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    chosen = "[training]\n# chosen with care\nbatch_size = 32\n"
    add_answers(folder / "scaffold.toml", chosen)
    suggested = (
        'trial.suggest_float("max_grad_norm", 3, 4), "mine": trial.suggest_int("mine", 1, 9)'
    )
    last = '        "batch_size": trial'
    replace_in(folder / "search.py", last, f'        "max_grad_norm": {suggested},\n{last}')
    real = {name: (folder / name).read_text() for name in ("config.py", "train.py")}
    (folder / "train.py").write_text(f'METRIC = "val_accuracy"\n{STAND_IN}')
    add_own_fields(folder / "config.py")
    result = run(folder, "search.py", "--trials", "2", "--jobs", "2")
    write_files(folder, real)
    (command,) = re.findall("^  scaffold (update .*)", result, re.MULTILINE)
    assert "edit Config: mine\n" in result
    updated = run_cli(*shlex.split(command), cwd=folder)
    assert updated.returncode == 0, updated.stderr
    values = dict(re.findall(r"\.(\w+)=(\S+)", command))
    script, answers = ((folder / name).read_text() for name in ("config.py", "scaffold.toml"))
    assert f"learning_rate: float = {values['learning_rate']}  #" in script
    assert f"batch_size: int = {values['batch_size']}  #" in script
    assert f"max_grad_norm: float = {values['max_norm']}  #" in script
    assert f"learning_rate = {values['learning_rate']}  #" in answers
    assert "\n# chosen with care\n" in answers
    assert tomllib.loads(answers)["features"]["clipping"]["max_norm"] == float(values["max_norm"])


@train
def test_a_killed_search_goes_on(project: Project) -> None:
    """A run that outlived it is waited for, and one that was killed starts again."""
    flags = ["--trials", "3", "--jobs", "2"]
    project.hold()
    search = project.start(*flags)
    project.wait_for("started", 2)
    search.kill()
    os.kill(project.process("trial_0001"), signal.SIGKILL)
    search.communicate()
    assert project.states == ["RUNNING", "RUNNING"]
    before = [trial.params for trial in project.trials]
    search = project.start(*flags)
    project.wait_for("started", 3)  # the one that was killed
    project.release()
    _, err = search.communicate(timeout=240)
    assert (search.returncode, err) == (0, "")
    assert project.states == ["COMPLETE"] * 3
    assert [trial.params for trial in project.trials[:2]] == before, "the same settings"
    assert Counter(project.notes("started")) == {"trial_0000": 1, "trial_0001": 2, "trial_0002": 1}
    assert len({trial.params["learning_rate"] for trial in project.trials}) == 3


@train
@pytest.mark.parametrize("number", in_turns([signal.SIGTERM, signal.SIGINT], 2))
def test_a_stopped_search_ends_its_runs(project: Project, number: int) -> None:
    """Gracefully: they get SIGTERM, count as neither done nor failed, and continue later."""
    flags = ["--trials", "3", "--jobs", "2"]
    project.hold()
    search = project.start(*flags)
    project.wait_for("started", 2)
    search.send_signal(number)
    _, err = search.communicate(timeout=60)
    assert search.returncode == 1
    assert err == "Stopped. The same command continues the search.\n"
    assert sorted(project.notes("stopped")) == ["trial_0000", "trial_0001"]
    assert project.states == ["RUNNING", "RUNNING"]
    project.release()
    assert project.search(*flags)[0] == 0
    assert project.states == ["COMPLETE"] * 3


@train
def test_bad_trials_are_ended_early(project: Project) -> None:
    """By the metrics of a run while it runs, compared with those of complete trials."""
    # the first six are good: as many as the pruner wants to see
    worse, later = 'config.fail == "worse" and ', "int(config.output_dir.name[-4:]) > 5"
    replace_in(project.folder / "train.py", f"{worse}not is_first", f"{worse}{later}")
    assert project.search("--trials", "6", "--jobs", "3", "--fail", "worse")[0] == 0
    done = project.states.count("COMPLETE")
    assert done >= 5
    project.hold(3)
    code, out, err = project.search("--trials", "7", "--fail", "worse")
    assert (code, err) == (0, "")
    assert project.states[6] == "PRUNED"
    assert project.notes("stopped")[-1] == "trial_0006"
    assert "trial_0006 | --learning-rate=" in out and "pruned at evaluation 2" in out


@train
@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        ("nan", "has val_accuracy None"),
        pytest.param("later", "ended with status 1: see ", marks=pytest.mark.sweep),
    ],
)
def test_trials_that_fail(project: Project, fail: str, reason: str) -> None:
    """They are noted, count, and the others go on."""
    code, out, err = project.search("--trials", "3", "--fail", fail)
    assert (code, err) == (0, "")
    assert project.states == ["COMPLETE", "FAIL", "FAIL"]
    assert out.count(reason) == 2
    assert "The best of 1 complete trials is number 0" in out
    code, out, _ = project.search("--trials", "3", "--fail", fail)
    assert code == 0 and len(project.notes("started")) == 3, "they are not repeated"


@train
def test_if_the_first_trial_fails(project: Project) -> None:
    """Something else than its settings is at fault: the search ends, and begins again later."""
    code, out, err = project.search("--trials", "3", "--fail", "always")
    assert (code, out) == (1, "")
    log = "runs/search/first/trial_0000.log"
    assert err == f"The first trial ended with status 1: see {log}\n"
    assert "out of memory" in (project.folder / log).read_text()
    code, _, err = project.search("--trials", "2", "--unknown-flag", "3")
    assert code == 2 and "Unrecognized options: --unknown-flag" in err
    assert project.search("--trials", "1")[0] == 0
    assert project.states == ["COMPLETE"]


@train
def test_seeds(project: Project) -> None:
    """The best settings again, with other seeds: mean, and the interval of Student's t."""
    flags = ["--trials", "2", "--seeds", "3", "--jobs", "2"]
    code, out, err = project.search(*flags)
    assert (code, err) == (0, "")
    names = [re.sub("trial_000.", "trial", name) for name in project.notes("started")[2:]]
    assert sorted(names) == ["trial_seed_1", "trial_seed_2", "trial_seed_3"]
    assert re.search("^  val_.* 0.9", out, re.MULTILINE), "those of the epoch, which has the rate"
    assert "  test_loss 2.5 (0.015662 to 4.9843)" in out  # 2.5 +- 4.303 / sqrt(3)
    [path] = project.folder.glob("runs/search/first/*_seeds.json")
    found = json.loads(path.read_text())["test_loss"]
    assert found["seeds"] == {"1": 1.5, "2": 2.5, "3": 3.5} and found["mean"] == 2.5
    again = project.search(*flags)[1]
    assert again.split("interval:\n")[1] == out.split("interval:\n")[1]
    assert len(project.notes("started")) == 5, "a run was repeated"
    code, out, _ = project.search("--trials", "0", "--seeds", "2", "--output-dir", "runs/plain")
    assert code == 0 and "defaults_seed_1 is done" in out
    assert "--learning-rate" not in (project.folder / "notes").read_text()
    flags = ["--trials", "0", "--seeds", "2", "--epochs", "5", "--output-dir", "runs/plain"]
    code, _, err = project.search(*flags)
    assert (code, err) == (1, other_settings("runs/plain", "epochs is 5, and was 3"))


@train
def test_what_is_refused(project: Project) -> None:
    messages = {
        "--jobs=0": "--jobs: at least 1",
        "--seeds=1": "--seeds: from 2 to 20",
        "--resume": "the same command continues a search",
        "--output-dir=runs/{time}": "a search needs a name without",
    }
    code = f"""
import sys, search
for flag in {list(messages)}:
    sys.argv = ["search.py", flag]
    try:
        search.main()
    except SystemExit as stop:
        assert stop.code == 2
"""
    result = start(project.folder, ["-c", code])
    said = [line for line in result.stderr.splitlines() if "error: " in line]
    assert len(said) == len(messages) and not (project.folder / "runs").exists(), result.stderr
    for line, message in zip(said, messages.values(), strict=True):
        assert message in line
    code, _, err = project.search("--trials", "1", "--learning-rate=0.1")
    assert (code, err) == (1, "--learning-rate: a flag can't be given if it is searched.\n")
    assert project.states == ["WAITING"]
    assert project.search("--trials", "1")[0] == 0
    project.hold()
    search = project.start("--trials", "1", "--output-dir", "runs/other")
    project.wait_for("started", 2)
    code, _, err = project.search("--trials", "1", "--output-dir", "runs/other")
    assert (code, err) == (1, "The search in runs/other is already running.\n")
    project.release()
    search.communicate(timeout=60)
    assert search.returncode == 0
    (project.folder / "runs/other/study.db").write_text("not a study" * 9)
    code, _, err = project.search("--trials", "2", "--output-dir", "runs/other")
    assert (code, err) == (1, "runs/other/study.db can't be used: file is not a database.\n")
    (project.folder / "runs/other/study.db").unlink()
    code, _, err = project.search("--trials", "2", "--output-dir", "runs/other")
    assert (code, err) == (1, "runs/other holds other runs: use another --output-dir.\n")
    path = project.folder / "search.py"
    path.write_text(path.read_text().replace("2 * size", "8 * size"))
    code, _, err = project.search("--trials", "2")
    assert code == 1 and "Use another --output-dir." in err and "Traceback" not in err
    assert project.states == ["COMPLETE"], "the refused trial is left"


@train
def test_other_defaults_are_refused(project: Project) -> None:
    """Those that a trial uses, those of the search space, and fields that come or go."""
    assert project.search("--trials", "1")[0] == 0
    real = (project.folder / "config.py").read_text()
    for old, new, said in (
        ("norm: float = 1.0", "norm: float = 0.25", "max_grad_norm is 0.25, and was 1.0"),
        ("batch_size: int = 32", "batch_size: int = 128", "batch_size is 128, and was 32"),
        ("mine: int = 3", "own: int = 3", "mine was 3, and is gone; own is 3, and was not there"),
    ):
        (project.folder / "config.py").write_text(real.replace(old, new))
        code, _, err = project.search("--trials", "2")
        assert (code, err) == (1, other_settings("runs/search/first", said))
    (project.folder / "config.py").write_text(real)
    assert project.search("--trials", "2")[0] == 0
    assert project.states == ["COMPLETE"] * 2


@train
def test_each_job_has_its_devices(tmp_path: Path) -> None:
    """Of those that are visible; without GPUs, its share of the cores."""
    several = {"hardware.distributed_type": "MULTI_GPU", "hardware.num_processes": 2}
    for given, cases in (
        ({}, [(4, "", "0 1 2"), (2, "", "0 1 0"), (2, "5,7", "5 7 5")]),
        (
            several,
            [(6, "", "0,1 2,3 4,5"), (4, "1,a,3,6", "1,a 3,6 1,a"), (1, "", "0 0 0"), (0, "", "")],
        ),
    ):
        files = {"trials.py": render({**FEATURE, **given})["trials.py"]}
        folder = write_files(tmp_path, {**files, "config.py": "find_checkpoints = None\n"})
        code = "import os, torch, trials\n"
        for count, visible, _ in cases:
            code += f"torch.cuda.device_count = lambda: {count}\n"
            code += f"os.environ['CUDA_VISIBLE_DEVICES'] = {visible!r}\n"
            code += "found = [trials.choose_devices(job, 3) for job in range(3)]\n"
            code += "print(*(each['CUDA_VISIBLE_DEVICES'] for each in found))\n"
            code += "assert trials.choose_devices(0, 1) == dict(os.environ)\n"
        result = run(folder, "-c", code)
        found = [line.strip() for line in result.splitlines()]
        assert found == [expected for _, _, expected in cases]


@train
def test_t_quantiles(tmp_path: Path) -> None:
    scipy = pytest.importorskip("scipy.stats")
    rows = re.findall(r"QUANTILES \+?= (\[.*?\])", render(FEATURE)["results.py"])
    found = [number for row in rows for number in json.loads(row)]
    assert len(found) == 19
    for degrees, quantile in enumerate(found, 1):
        assert quantile == pytest.approx(scipy.t.ppf(0.975, degrees), abs=5e-4)


@train
def test_a_killed_run_resumes(tmp_path: Path) -> None:
    """A real one, from its checkpoint. It ends with the same metrics as one that was not killed."""
    psutil = pytest.importorskip("psutil")
    folder = write_files(tmp_path, render(FEATURE))
    flags = ["--epochs", "3", "--limit-batches", "20"]
    search = ["search.py", "--trials", "1", *flags]
    run(folder, "train.py", *flags, "--output-dir", "runs/whole")
    killed = begin(folder, search)
    trial = folder / "runs/search/first/trial_0000"
    for _ in range(2400):
        if any(trial.glob("checkpoint_*[0-9]/loop.pt")):
            break
        time.sleep(0.02)
    for process in psutil.process_iter(["cwd"]):  # the search, and its run
        if process.info["cwd"] == str(folder):
            process.kill()
    killed.communicate()
    run(folder, *search)
    log = trial.with_name("trial_0000.log").read_text()
    assert log.count("resumed from runs/search/first/trial_0000/checkpoint_") == 1
    one, other = (path / "metrics.jsonl" for path in (trial, folder / "runs/whole"))
    assert one.read_text() == other.read_text()


@pytest.mark.sweep
@train
@pytest.mark.parametrize("seed", range(4))
def test_kills_at_any_moment(
    seed: int, project: Project, proven: Callable[[str, int], None]
) -> None:
    """Whenever it is killed, alone or with its runs: in the end each trial has one result."""
    psutil = pytest.importorskip("psutil")
    random, total = Random(seed), 16
    flags = ["--trials", str(total), "--jobs", "2", "--pause", "0.3"]
    for kill in range(8):
        search = project.start(*flags, real=True)
        before = len(project.notes("started"))
        while kill % 2 and search.poll() is None and len(project.notes("started")) == before:
            time.sleep(0.05)  # into the middle of a trial; else also while the search starts
        time.sleep(random.uniform(0, 2 if kill % 2 else 8))
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended just now
            runs = psutil.Process(search.pid).children() if random.random() < 0.5 else []
            for process in (search, *runs):
                process.kill()
        search.communicate()
        proven("kills of a search", 1)
    code, _, err = project.search(*flags)
    assert (code, err) == (0, "")
    assert len(project.states) == total and set(project.states) <= {"COMPLETE", "PRUNED"}
    ended = Counter(project.notes("ended"))
    assert max(ended.values()) == 1, "a run was repeated after its end"
    started = Counter(project.notes("started"))
    assert started.keys() == {f"trial_{number:04d}" for number in range(total)}
