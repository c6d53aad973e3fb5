"""Inside a project: loads each checkpoint in `forged/`, and says what became of it.

With `split` as its argument, the model is split among the processes.
"""

import json
import runpy
import sys
from pathlib import Path

import checkpoint


def load_all(checkpoints):
    for folder in sorted(Path("forged").iterdir()):
        try:
            checkpoints.load(folder)
            said = "loaded"
        except SystemExit as stop:
            said = str(stop.code)
        except BaseException as error:
            said = f"traceback of {type(error).__name__}: {error}"
        if checkpoints.accelerator.is_main_process:
            print(json.dumps({"forged": folder.name, "said": said}), flush=True)
    checkpoints.accelerator.end_training()
    raise SystemExit


checkpoint.Checkpoints.resume = load_all
checkpoint.compare_settings = lambda *_: None  # the settings are others
split = sys.argv.pop() == "split"
sys.argv[1:] = ["--epochs", "1", "--limit-batches", "5"]
runpy.run_path("split_on_cpu.py" if split else "train.py", run_name="__main__")
