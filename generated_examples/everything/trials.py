"""Runs of train.py for search.py: several at once, each in its own process and folder."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event

import torch

from config import find_checkpoints

# `python train.py`, or the command for several processes
TRAIN = [
    "-m",
    "accelerate.commands.launch",
    "--config_file",
    "accelerate.yaml",
    "--main_process_port",
    "0",
    "train.py",
]
PROCESSES = 2  # of a run
STOP = Event()  # ends all runs; they continue when the search is started again


class RunFailed(Exception):
    """A run ended with an error, or its metric is not a number."""


class Stopped(Exception):
    """The search is stopping."""


def run(folder: Path, flags: list[str], settings: dict, environment: dict, watch: Callable) -> list:
    """Train in a folder, or continue there. Returns the lines of metrics.jsonl.

    `watch` is called with the lines so far. If it raises an error, the run is ended. Raises
    RunFailed if the run fails, and Stopped if it was ended by STOP.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.log").open("a") as log:
        # a run holds the lock of its log, so this waits for a run that outlived a killed search
        while not lock(log):
            if STOP.wait(1):
                raise Stopped
        if is_finished(read_metrics(folder)):
            return read_metrics(folder)
        command = [sys.executable, *TRAIN, *flags, *to_flags(settings)]
        command += ["--output-dir", str(folder)]
        if find_checkpoints(folder):
            command.append("--resume")
        else:
            shutil.rmtree(folder, ignore_errors=True)  # the rest of a killed run
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            while process.poll() is None:
                watch(read_metrics(folder))
                if STOP.wait(0.2):
                    raise Stopped
        finally:
            end(process)
    if process.returncode in (75, -signal.SIGTERM, -signal.SIGINT):  # a signal to one run stops all
        raise Stopped
    if process.returncode:
        raise RunFailed(f"ended with status {process.returncode}: see {log.name}")
    return read_metrics(folder)


def end(process: subprocess.Popen) -> None:
    """End a run with the processes that it started. They have a minute to save."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            for _ in range(600):
                process.poll()
                os.killpg(process.pid, 0)  # raises an error once all of them have ended
                time.sleep(0.1)
        except (ProcessLookupError, PermissionError):
            return


def lock(file) -> bool:
    """Lock a file until the last process that has it open ends. Returns whether that worked."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_metrics(folder: Path) -> list[dict]:
    """The lines of metrics.jsonl. The last one is left out while it is being written."""
    path = folder / "metrics.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def is_finished(lines: list[dict]) -> bool:
    """Whether the last line is that of the test."""
    return any(name.startswith("test_") for line in lines[-1:] for name in line)


def to_flags(settings: dict) -> list[str]:
    """Settings as flags of train.py."""
    flags = []
    for name, value in settings.items():
        flag = name.replace("_", "-")
        switch = f"--{flag}" if value else f"--no-{flag}"
        flags.append(switch if isinstance(value, bool) else f"--{flag}={value}")
    return flags


def names_of(flags: list[str]) -> set[str]:
    return {flag.partition("=")[0].replace("_", "-") for flag in flags}


def choose_devices(job: int, jobs: int) -> dict:
    """The environment of a run: its own GPUs, or its share of the CPU cores."""
    environment = dict(os.environ)
    count = torch.cuda.device_count()
    if count and jobs > 1:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(count)))
        mine = [(job * PROCESSES + process) % count for process in range(PROCESSES)]
        chosen = dict.fromkeys(visible.split(",")[place] for place in mine)
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(chosen)
    elif jobs > 1:
        cores = max(1, (os.cpu_count() or 1) // (jobs * PROCESSES))
        environment.setdefault("OMP_NUM_THREADS", str(cores))
    return environment


def in_parallel(jobs: int, take: Callable, work: Callable) -> None:
    """Call `work` with a task and an environment, until `take` returns no more tasks."""

    def work_all(job: int) -> None:
        while not STOP.is_set() and (task := take()) is not None:
            work(*task, choose_devices(job, jobs))

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in as_completed([pool.submit(work_all, job) for job in range(jobs)]):
                future.result()
        except BaseException:
            STOP.set()
            raise
