"""Runs train.py with the compiler on, which tests turn off otherwise, and says what it compiled."""

import os
import runpy
import sys

os.environ["TORCHDYNAMO_DISABLE"] = "0"
sys.argv[0] = "train.py"
runpy.run_path("train.py", run_name="__main__")

from torch._dynamo.utils import counters  # noqa: E402  (only now: it reads the variable)

print(f"{counters['stats']['unique_graphs']} graphs", flush=True)
