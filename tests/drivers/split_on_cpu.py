"""Runs train.py so that Accelerate splits the model among processes on the CPU.

It does so only among devices, and is silent about a plugin that has no effect: here it takes the
processes for such devices.
"""

import os
import runpy
import sys

import ring_on_cpu  # noqa: F401
from accelerate import PartialState
from accelerate.utils import DistributedType

os.environ |= {"ACCELERATE_USE_CPU": "false", "ACCELERATE_TORCH_DEVICE": "cpu"}
os.environ["DS_ACCELERATOR"] = "cpu"  # of DeepSpeed
PartialState._prepare_backend = lambda *_: ("gloo", DistributedType.MULTI_GPU)
sys.argv[0] = "train.py"
runpy.run_path("train.py", run_name="__main__")
