"""Runs what rendered projects hold: scripts on so many processes, and their own tests."""

import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest import approx

from scaffold.answers.catalog import Value
from support import warm
from support.files import write_files
from support.paths import DRIVERS, TORCHVISION
from support.rendering import of_task, render


def only_in_sweep(test: Callable[..., None]) -> Callable[..., None]:
    """Marks a test that trains, and that only the sweep has."""
    return pytest.mark.train(pytest.mark.sweep(test))


def run_python(
    folder: Path,
    arguments: Sequence[str | Path],
    *,
    timeout: float = 240,
    real: bool = False,
    stdin: str | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """`python ARGUMENTS` in a folder, with torch imported already unless it is to be `real`.

    The processes compute on the CPU, and reach no network.
    """
    given = {**clean_environment(), **OFFLINE, **environment}
    python = sys.executable if real else warm.python({**given, **SERVER})
    return subprocess.run(
        [python, *map(str, arguments)],
        cwd=folder,
        env=given,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


SAY = """
import json, runpy, sys
said = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = arguments
    try:
        runpy.run_path(arguments[0], run_name="__main__")
        said.append("")
    except SystemExit as stop:
        said.append(str(stop))
print(json.dumps(said))
"""


def succeed(result: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """The result of a command, which must have ended without an error."""
    assert result.returncode == 0, result.stderr[-3000:]
    return result


def read_rows(printed: str) -> list[dict[str, Any]]:
    """The rows that a script printed, as CSV or as JSON lines."""
    if printed.startswith("{"):
        return [json.loads(line) for line in printed.splitlines()]
    return list(csv.DictReader(io.StringIO(printed)))


def run(folder: Path, *command: str | Path, processes: int = 1, **settings: Any) -> str:
    """What a script of a project prints, which ends well, on so many processes."""
    printed = succeed(start(folder, command, processes, **settings)).stdout
    if processes > 1 and command[0] == "train.py":
        assert count_processes(printed) == processes
    return printed


def fail(folder: Path, *command: str | Path, processes: int = 1, **settings: Any) -> str:
    """What a script says that ends with an error. One process shows no traceback."""
    result = start(folder, command, processes, **settings)
    assert result.returncode and (processes > 1 or "Traceback" not in result.stderr), result.stderr
    return result.stderr


def said(folder: Path, script: str, *calls: Sequence[str]) -> list[str]:
    """With what message a script ends, for each of these arguments, all of them in one process.

    It is empty if there is no error.
    """
    commands = json.dumps([[script, *map(str, arguments)] for arguments in calls])
    messages: list[str] = tell(folder, SAY, commands)
    return messages


def call(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code that has the modules of a project, offline and with a cache of its own."""
    script = f"import json, pathlib, data, model, train\nconfig = train.Config()\n{code}"
    return run_python(folder, ["-c", script], HF_HOME=str(folder / "hf"))


def ask(folder: Path, code: str, expression: str) -> Any:
    """The value of an expression after this code, which has the modules of a project."""
    result = succeed(call(folder, f"{code}\nprint(json.dumps({expression}))"))
    return json.loads(result.stdout.splitlines()[-1])


def tell(folder: Path, code: str, *arguments: str, **settings: Any) -> Any:
    """What a script in a project prints in its last line, as JSON."""
    result = succeed(run_python(folder, ["-c", code, *arguments], **settings))
    return json.loads(result.stdout.splitlines()[-1])


def last_metrics(folder: Path, run: str = "runs/latest") -> dict[str, Any]:
    """The last line of metrics.jsonl of a run."""
    lines = (folder / run / "metrics.jsonl").read_text().splitlines()
    return dict(json.loads(lines[-1]))


def last_tested(folder: Path) -> dict[str, float]:
    """What the run in runs/latest says of the test data at its end."""
    last = last_metrics(folder)
    return {name: value for name, value in last.items() if name.startswith("test_")}


def read_report(folder: Path, split: str = "test") -> dict[str, dict[str, float]]:
    """What evaluate.py has written about runs/latest."""
    path = folder / "runs/latest/evaluation" / split / "metrics.json"
    return dict(json.loads(path.read_text()))


def evaluate(folder: Path, *flags: str, processes: int = 1) -> dict[str, float]:
    """The metrics of runs/latest that evaluate.py finds on the test data."""
    run(folder, "evaluate.py", *flags, processes=processes)
    return {name: row["value"] for name, row in read_report(folder).items() if "value" in row}


def assert_evaluated(folder: Path, expected: Mapping[str, float], **tolerance: float) -> None:
    """That evaluate.py finds these metrics on 1, 2 and 3 processes."""
    assert expected
    for processes in (1, 2, 3):
        found = evaluate(folder, processes=processes)
        assert {name: found[name] for name in expected} == approx(expected, **tolerance)


def make_pretrained(
    folder: Path, task: str, script: str, kind: str, given: Mapping[str, Value]
) -> Path:
    """A project with a small pretrained model, and the model in a folder, which a script makes."""
    answers: dict[str, Value] = {
        "project.task": task,
        **of_task(task, model="pretrained", pretrained_name="small"),
    }
    write_files(folder, render({**answers, **given}))
    run(folder, "-c", script, kind)
    return folder


OFFLINE = {"ACCELERATE_USE_CPU": "true", "WANDB_MODE": "offline", "HF_HUB_OFFLINE": "1"}
# what is read when modules are imported: all runs have it that are not real
SERVER = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def start(
    folder: Path,
    script: Sequence[str | Path],
    processes: int = 1,
    timeout: float = 240,
    real: bool = False,
    stdin: str | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a script of a project on so many processes. Without a folder, a run is in runs/latest."""
    if Path(script[0]).name == "train.py" and not {"--output-dir", "--resume"} & set(script):
        script = [*script, "--output-dir", keep_earlier(folder)]
    command = launched(script, processes)
    return run_python(folder, command, timeout=timeout, real=real, stdin=stdin, **environment)


def launched(script: Sequence[str | Path], processes: int) -> list[str | Path]:
    """The arguments of Python that run a script on so many processes."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    return [*(torchrun if processes > 1 else []), *script]


def begin(
    folder: Path, script: Sequence[str], processes: int = 1, real: bool = False
) -> subprocess.Popen[str]:
    """The same without waiting for its end."""
    environment = {**clean_environment(), **OFFLINE, **SERVER}
    return subprocess.Popen(
        [sys.executable if real else warm.python(environment), *launched(script, processes)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def train_in_parts(folder: Path, run: str, *parts: Sequence[str], processes: int = 1) -> bytes:
    """The weights of a run after these calls of train.py, one after the other."""
    for flags in parts:
        succeed(start(folder, ["train.py", *flags, "--output-dir", run], processes))
    return (folder / run / "model.safetensors").read_bytes()


def keep_earlier(folder: Path) -> str:
    """runs/latest, which is free: what an earlier run wrote is now in another folder of runs."""
    latest = folder / "runs/latest"
    if latest.exists():
        latest.rename(folder / f"runs/earlier_{len(list(latest.parent.iterdir()))}")
    return "runs/latest"


def run_tests(
    project: Path, *options: str, timeout: float = 3600, real: bool = False
) -> subprocess.CompletedProcess[str]:
    """The tests of a project, as its owner would run them."""
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return run_python(project, command, timeout=timeout, real=real)


def count_passed(result: subprocess.CompletedProcess[str]) -> int:
    """How many tests passed, which must be all."""
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]
    assert "skipped" not in result.stdout
    found = re.search(r"(\d+) passed", result.stdout)
    assert found
    return int(found[1])


def begin_server() -> None:
    """Let the first runs wait less for the server of warm processes."""
    warm.begin({**clean_environment(), **OFFLINE, **SERVER})


def warm_environment(folder: Path) -> dict[str, str]:
    """An environment whose `python` runs in warm processes: it stands in this folder."""
    environment = {**clean_environment(), **OFFLINE, **SERVER}
    stand_in = folder / "python"
    stand_in.write_text(f'#!/bin/sh\nexec {shlex.quote(warm.python(environment))} "$@"\n')
    stand_in.chmod(0o755)
    return environment | {"PATH": f"{folder}{os.pathsep}{environment['PATH']}"}


def clean_environment() -> dict[str, str]:
    """That of this process without what would change a run, and with one thread for each process.

    Tests may run beside each other, and more threads than cores would only wait for each other.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ACCELERATE")}
    paths = [str(TORCHVISION), *filter(None, [kept.get("PYTHONPATH")])]
    settings = {"OMP_NUM_THREADS": "1", "TORCHDYNAMO_DISABLE": "1"}  # compiling takes long
    return {**kept, **settings, "PYTHONPATH": os.pathsep.join(paths)}


def without_times(output: str) -> str:
    """A log as it is in every run: how long a step takes differs."""
    return re.sub(r" \| s/step [\d.e+-]+", "", output)


def count_processes(output: str) -> int:
    """How many processes the first line of a run names."""
    found = re.search(r" \| (\d+) process\(es\) on cpu", output)
    assert found, output
    return int(found[1])


COUNT_THREADS = """
from pathlib import Path

def count_threads():
    names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    return sum("gloo" in name for name in names)

def print_threads():
    print(f"threads {during[0]} {count_threads()}", flush=True)

during = []
"""


def assert_the_group_has_ended(result: subprocess.CompletedProcess[str]) -> None:
    """That each of 2 processes has printed threads of its group, and none that are left."""
    assert result.returncode == 0, result.stderr
    counts = re.findall(r"threads (\d+) (\d+)", result.stdout)
    assert len(counts) == 2
    for during, after in counts:
        assert int(during) > 0
        assert int(after) == 0


def resume_everywhere(
    files: Mapping[str, str], processes: int, folder: Path, **settings: Value
) -> int:
    """How many checkpoints a run was resumed from, each with the same end to the last bit."""
    project = write_files(folder / "project", files)
    shutil.copy(DRIVERS / "resume_everywhere.py", project)
    settings |= {"checkpoint_unit": "steps", "keep_checkpoints": 99, "log_every": 2}
    command = "resume_everywhere.py", json.dumps(settings)
    printed = run(project, *command, processes=processes, timeout=600)
    facts = json.loads(re.findall(r'^{"processes.*', printed, re.MULTILINE)[-1])
    assert facts["processes"] == processes
    assert facts["different"] == []
    return int(facts["points"])
