"""Trains the project in this folder for three steps, and prints the most bytes of all tensors.

Counted is what PyTorch's allocator gives out and takes back, as its profiler records it, without
the data: they are loaded before. Arguments: fields of Config as JSON.
"""

import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, ".")
import train

config = train.Config(
    **json.loads(sys.argv[1]), epochs=1, limit_batches=3, output_dir=Path("runs/measured")
)
loaders = train.build_loaders(config)
train.build_loaders = lambda config: loaders
with torch.profiler.profile(
    activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
) as profiler:
    train.main(config)
now = peak = 0
events = [row for row in profiler.profiler.kineto_results.events() if row.name() == "[memory]"]
for event in sorted(events, key=lambda row: row.start_ns()):
    now += event.nbytes()
    peak = max(peak, now)
print("peak", peak)
