"""The generated loop computes what a bare loop and plain DistributedDataParallel compute."""

from pathlib import Path

import pytest

from scaffold.answers.manifests import load_catalog
from support.combinations import given_for
from support.files import write_files
from support.rendering import render
from support.training import run

CATALOG = load_catalog()
pytestmark = pytest.mark.train

# without Accelerate: the same data order, by the rule that its seedable sampler states
BARE = """
import contextlib, os, sys, torch
import torch.distributed as dist
import torch.distributed.nn  # before the process group, which its defaults would keep alive
import torch.nn.functional as F
from safetensors.torch import save_file
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import default_collate
from data import build_datasets
from model import build_model

accumulation, max_norm = int(sys.argv[1]), float(sys.argv[2])
world = int(os.environ.get("WORLD_SIZE", 1))
rank = int(os.environ.get("RANK", 0))
torch.manual_seed(0)
train_set = build_datasets(None)[0]
model = build_model(None)
model.head[1].p = 0.0
optimizer = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=0.01)
wrapped = model
if world > 1:
    dist.init_process_group("gloo")
    wrapped = DistributedDataParallel(model)
size = 32
batches_per_epoch = len(train_set) // size // world
for epoch in range(2):
    order = torch.randperm(len(train_set), generator=torch.Generator().manual_seed(epoch)).tolist()
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    mine = [batches[number * world + rank] for number in range(batches_per_epoch)]
    for start in range(0, len(mine) - len(mine) % accumulation, accumulation):
        window = mine[start : start + accumulation]
        for number, batch in enumerate(window):
            last = number == len(window) - 1
            sync = contextlib.nullcontext() if last or world == 1 else wrapped.no_sync()
            with sync:
                images, labels = default_collate([train_set[index] for index in batch])
                (F.cross_entropy(wrapped(images), labels) / len(window)).backward()
        if max_norm:
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        optimizer.zero_grad()
if rank == 0:
    save_file(model.state_dict(), "bare.safetensors")
del wrapped, model, optimizer  # a process group that dies before them can abort the exit
if world > 1:
    dist.destroy_process_group()
"""

OURS = """
import sys, train
from config import parse_config
build_model = train.build_model
def build_exact_model(config):
    model = build_model(config)
    model.head[1].p = 0.0
    return model
train.build_model = build_exact_model
train.main(parse_config(""))
"""


@pytest.mark.parametrize(
    ("processes", "accumulation", "max_norm"),
    [
        (1, 4, 0.5),
        (2, 4, 0.5),
        pytest.param(2, 1, 0.5, marks=pytest.mark.sweep),
        pytest.param(2, 4, 0.0, marks=pytest.mark.sweep),
    ],
)
def test_same_weights_as_a_bare_loop(
    processes: int, accumulation: int, max_norm: float, tmp_path: Path
) -> None:
    from safetensors.torch import load_file

    given = given_for(CATALOG, [])
    given["training.gradient_accumulation_steps"] = accumulation
    if max_norm:
        given |= {"features.clipping.enabled": True, "features.clipping.max_norm": max_norm}
    project = write_files(tmp_path / "project", render(given))
    (project / "bare.py").write_text(BARE)
    (project / "ours.py").write_text(OURS)
    ours = ["ours.py", "--epochs", "2", "--output-dir", "runs/latest"]
    for script in (["bare.py", str(accumulation), str(max_norm)], ours):
        result = run(project, *script, processes=processes)
    assert f"{processes} process(es)" in result
    bare = load_file(project / "bare.safetensors")
    ours = load_file(project / "runs/latest/model.safetensors")
    assert bare.keys() == ours.keys()
    for name in bare:
        assert (bare[name] - ours[name]).abs().max().item() <= 1e-6, name
