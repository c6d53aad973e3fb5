"""Runs a script up to its first step: `python first_step.py SCRIPT [ARGUMENT ...]`."""

import os
import runpy
import sys
from pathlib import Path

from torch.optim.optimizer import register_optimizer_step_post_hook

sys.argv = sys.argv[1:]
sys.path[0] = str(Path(sys.argv[0]).parent)
register_optimizer_step_post_hook(lambda *_: os._exit(0))
runpy.run_path(sys.argv[0], run_name="__main__")
raise SystemExit("it made no step")
