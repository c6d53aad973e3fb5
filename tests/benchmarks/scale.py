"""One process against two, the cost of a step early and late in a run, and of stop signals."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from startup import write_project

RECORD = """
import atexit, os, sys, time
from torch.optim.optimizer import register_optimizer_step_post_hook
times = []
register_optimizer_step_post_hook(lambda *_: times.append(time.perf_counter()))
if os.environ.get("RANK", "0") == "0":
    import json
    atexit.register(lambda: open(os.environ["TIMES"], "w").write(json.dumps(times)))
"""
RUN = "import record, runpy, sys\nrunpy.run_path('train.py', run_name='__main__')\n"
UPDATES = {"cnn": 60, "tiny": 1000, "off": 600, "signals": 600}
# the processes ask each other every 20 steps, or, as they did before, in every step
ASK = """
import os, preemption
after_step = preemption.StopSignals.after_step
def ask(stop_signals, checkpoints):
    stop_signals.every = int(os.environ["ASK_EVERY"])
    after_step(stop_signals, checkpoints)
preemption.StopSignals.after_step = ask
"""


def measure_scale(folder: Path, rounds: int) -> dict[str, dict]:
    """Samples a second of a small CNN on 1 and 2 processes; microseconds of a step, by part."""
    cnn = write_project(folder / "cnn", 1, epochs=5)
    tiny = write_project(folder / "tiny", 0, epochs=5)
    for project in (cnn, tiny):
        (project / "record.py").write_text(RECORD)
        (project / "run.py").write_text(RUN)
    batch_size = 16
    speeds: dict[int, list[float]] = {1: [], 2: []}
    parts: dict[str, list[float]] = {"10": [], "100": [], "1000": []}
    for turn in range(rounds):
        for processes in (1, 2):
            times = train(cnn, processes, turn)[10:]
            seconds = (times[-1] - times[0]) / (len(times) - 1)
            speeds[processes].append(processes * batch_size / seconds)
        times = train(tiny, 1, turn)
        for name, values in parts.items():
            count = int(name)
            values.append(1e6 * (times[count - 1] - times[0]) / (count - 1))
    return {
        "samples_per_second": {str(n): round(statistics.median(v)) for n, v in speeds.items()},
        "step_us": {name: round(statistics.median(values)) for name, values in parts.items()},
    }


def measure_signals(folder: Path, rounds: int) -> dict[str, int]:
    """Microseconds of a step of the tiny model on 2 processes, by how often they ask each other."""
    projects = {
        "no stop signals": (write_project(folder / "off", 0, epochs=5), "0"),
        "asked every 20 steps": (write_project(folder / "signals", 0, 5, "preemption"), "20"),
        "asked in every step": (folder / "signals", "1"),
    }
    for project, every in projects.values():
        (project / "record.py").write_text(RECORD)
        (project / "run.py").write_text((ASK if every != "0" else "") + RUN)
    costs: dict[str, list[float]] = {name: [] for name in projects}
    for turn in range(rounds):
        for name, (project, every) in projects.items():
            times = train(project, 2, f"{every}_{turn}", ASK_EVERY=every)[100:]
            costs[name].append(1e6 * (times[-1] - times[0]) / (len(times) - 1))
    return {name: round(statistics.median(values)) for name, values in costs.items()}


def train(project: Path, processes: int, turn: int | str, **environment: str) -> list[float]:
    """The clock after each step of one epoch."""
    options = ["--max-steps", str(UPDATES[project.name])]
    options += ["--output-dir", f"runs/{processes}_{turn}"]
    command = [sys.executable, "run.py", *options]
    if processes > 1:
        launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
        command = [sys.executable, *launch, "run.py", *options]
    env = {**os.environ, "ACCELERATE_USE_CPU": "true", "TIMES": str(project / "times.json")}
    env |= environment
    env["OMP_NUM_THREADS"] = "1"
    subprocess.run(command, cwd=project, env=env, check=True, capture_output=True)
    return json.loads((project / "times.json").read_text())
