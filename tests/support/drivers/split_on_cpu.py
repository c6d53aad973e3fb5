"""Runs train.py so that Accelerate splits the model among processes on the CPU.

It does so only among devices, and is silent about a plugin that has no effect: here it takes the
processes for such devices. Each says which parts of the weights it has.

Weights that version 1 of FSDP puts together stay where they are: it would free them when it moves
them to the CPU, on which they are.
"""

import os
import runpy
import sys
from contextlib import nullcontext

import ring_on_cpu  # noqa: F401
from accelerate import Accelerator, PartialState
from accelerate.utils import DistributedType
from torch import nn
from torch.distributed.fsdp._flat_param import FlatParamHandle
from torch.distributed.tensor import DTensor

os.environ |= {"ACCELERATE_USE_CPU": "false", "ACCELERATE_TORCH_DEVICE": "cpu"}
os.environ["DS_ACCELERATOR"] = "cpu"  # of DeepSpeed
PartialState._prepare_backend = lambda *_: ("gloo", DistributedType.MULTI_GPU)
prepare = Accelerator.prepare


def prepare_and_say(self, *given):
    prepared = prepare(self, *given)
    for model in prepared if isinstance(prepared, tuple | list) else ():
        if isinstance(model, nn.Module):
            parts = [(name, *local(weight).shape) for name, weight in model.named_parameters()]
            print("".join(f"{part}\n" for part in parts), end="", flush=True)
    return prepared


def local(weight):
    return weight.to_local() if isinstance(weight, DTensor) else weight


Accelerator.prepare = prepare_and_say
FlatParamHandle.to_cpu = lambda _: nullcontext()
sys.argv[0] = "train.py"
runpy.run_path("train.py", run_name="__main__")
