"""Inside a project: trains, then resumes from each of its checkpoints, and compares the ends."""

import json
import shutil
import sys
from pathlib import Path

import train
from accelerate import Accelerator
from checkpoint import find_checkpoints

settings = json.loads(sys.argv[1])
end_training = Accelerator.end_training
Accelerator.end_training = lambda self: None  # several runs share the process group


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
        if one.exists() and one.read_bytes() != other.read_bytes():
            different.append(str(other))
    points += 1
    state.wait_for_everyone()
    if state.is_main_process:
        shutil.rmtree(resumed)
if state.is_main_process:
    facts = {"processes": state.num_processes, "points": points, "different": different}
    print(json.dumps(facts))
end_training(state)
