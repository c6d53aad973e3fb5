"""Inside a project: kills runs at moments of chance, resumes them, and compares the ends.

The runs are forked from here, where everything is imported already, to be killed more often.
"""

import json
import os
import random
import signal
import socket
import sys
import time
from pathlib import Path

import train
from config import find_checkpoints

processes, kills, seed = map(int, sys.argv[1:4])
settings = {"epochs": 2, "limit_batches": 5, "batch_size": 16, "checkpoint_unit": "steps"}
settings |= {"checkpoint_every": 1, "keep_checkpoints": 3}
chance = random.Random(seed)


def start(folder, **changes):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    children = []
    for rank in range(processes):
        child = os.fork()
        if child:
            children.append(child)
            continue
        os.environ["ACCELERATE_USE_CPU"] = "true"
        os.environ["OMP_NUM_THREADS"] = "1"
        if processes > 1:
            os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "MASTER_PORT": str(port)}
            os.environ |= {"WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1"}
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        train.main(train.Config(output_dir=folder, **settings, **changes))
        os._exit(0)
    return children


def wait(children):
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def newest(folder):
    """The step of the newest checkpoint, whole or not."""
    names = [path.stem for path in folder.glob("checkpoint_*")]
    return max((int(name.split("_")[1]) for name in names), default=0)


assert wait(start(Path("whole"))) == [0] * processes
whole = find_checkpoints(Path("whole"))[-1]
killed = saving = 0
different = []
while killed < kills:
    folder = Path(f"killed{killed}")
    children = start(folder)
    # after so many checkpoints, and every other time in the middle of saving the next one
    reached, patience = chance.randrange(0, 9), time.monotonic() + 60
    while newest(folder) < reached and time.monotonic() < patience:
        time.sleep(0.001)
    if killed % 2:
        while not any(folder.glob("checkpoint_*.partial")) and newest(folder) < 10:
            time.sleep(0.0002)
        time.sleep(chance.uniform(0, 0.01))
    else:
        time.sleep(chance.uniform(0, 0.05))
    for child in children:
        os.kill(child, signal.SIGKILL)
    if wait(children) == [0] * processes:
        folder.rename(f"whole{time.monotonic_ns()}")  # it was faster
        continue
    saving += any(folder.glob("checkpoint_*.partial"))
    found = find_checkpoints(folder)
    resume = {"resume": "newest"} if found else {}
    assert wait(start(folder, **resume)) == [0] * processes, folder
    last = find_checkpoints(folder)[-1]
    pairs = [(path, last / path.name) for path in sorted(whole.iterdir())]
    pairs = [pair for pair in pairs if pair[0].suffix != ".json"]
    pairs += [
        (Path("whole") / name, folder / name) for name in ("model.safetensors", "metrics.jsonl")
    ]
    for one, other in pairs:
        if one.read_bytes() != other.read_bytes():
            different.append(str(other))
    killed += 1
facts = {"processes": processes, "kills": killed, "saving": saving, "different": different}
print(json.dumps(facts))
