"""Inside a project: trains, then resumes from each of its checkpoints, and compares the ends."""

import json
import shutil
import sys
from pathlib import Path

import torch
import train
from accelerate import Accelerator
from config import find_checkpoints

settings = json.loads(sys.argv[1])
end_training = Accelerator.end_training
Accelerator.end_training = lambda self: None  # several runs share the process group


def equal(one, other):
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


def same(one, other):
    """Whether two files have the same content. Pickles of one content can differ in bytes."""
    if one.name in ("config.json", "digests.json"):  # the command and the folder of each run
        return True
    if one.read_bytes() == other.read_bytes():
        return True
    if one.suffix in (".bin", ".pt"):
        return equal(torch.load(one, weights_only=True), torch.load(other, weights_only=True))
    return False


def run(folder, **changes):
    train.main(train.Config(output_dir=folder, **settings, **changes))
    return find_checkpoints(folder)[-1]


precision = getattr(train.Config(**settings), "mixed_precision", "no")
state = Accelerator(mixed_precision=precision)
whole = run(Path("whole"))
results = ["best.safetensors", "model.safetensors", "metrics.jsonl"]
points, different = 0, []
for point in find_checkpoints(Path("whole")):
    resumed = Path(f"resumed_{point.name}")
    if state.is_main_process:
        shutil.copytree("whole", resumed)
        for later in find_checkpoints(resumed):
            if later.name > point.name:
                shutil.rmtree(later)
    state.wait_for_everyone()
    last = run(resumed, resume="newest")
    pairs = [(path, last / path.name) for path in sorted(whole.iterdir())]
    pairs += [(Path("whole") / name, resumed / name) for name in results]
    for one, other in pairs:
        if one.exists() and not same(one, other):
            different.append(str(other))
    points += 1
    state.wait_for_everyone()
    if state.is_main_process:
        shutil.rmtree(resumed)
if state.is_main_process:
    facts = {"processes": state.num_processes, "points": points, "different": different}
    print(json.dumps(facts))
end_training(state)
