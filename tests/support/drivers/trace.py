"""Runs a script of a project and writes down what it trained: `trace.py RESULT SCRIPT ...`.

Nothing of it depends on how the script is written. Each forward pass of a model with its samples,
each loss, each step of an optimizer with its learning rates and gradients is noted where torch does
it. So are the lines that were printed, and the files that are left. The digits are fewer, so that a
run takes half a second.
"""

import csv
import io
import json
import os
import re
import runpy
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path

import numpy
import sklearn.datasets
import torch
from sklearn.utils import Bunch
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

SAMPLES = 400
DIGITS = 4  # that are compared
# what differs from run to run
TIMES = re.compile(r"(?i)(s/step|/s\b|seconds?|minutes?|hours?|time|elapsed|eta|memory|speed)")
events: list[list] = []
depth = 0


def short(value: float) -> str:
    return f"{float(value):.{DIGITS}g}"


def enter(module, given) -> None:
    global depth
    if not any(True for _ in module.parameters()):
        return
    if depth == 0:
        tensors = [value for value in given if isinstance(value, torch.Tensor)]
        batch = tensors[0].detach().float() if tensors else torch.zeros(0)
        kind = "train" if module.training else "eval"
        events.append(["forward", kind, len(batch), short(batch.sum())])
    depth += 1


def leave(module, given, result) -> None:
    global depth
    if any(True for _ in module.parameters()):
        depth -= 1


def step(optimizer, given, settings) -> None:
    groups = optimizer.param_groups
    rates = sorted({short(group["lr"]) for group in groups})
    gradients = [p.grad for group in groups for p in group["params"] if p.grad is not None]
    norm = sum(float(gradient.detach().float().pow(2).sum()) for gradient in gradients) ** 0.5
    events.append(["step", type(optimizer).__name__, rates, len(gradients), short(norm)])


def note_losses() -> None:
    really = torch.Tensor.backward

    def backward(self, *given, **settings):
        events.append(["loss", short(self.detach().float().sum())])
        return really(self, *given, **settings)

    torch.Tensor.backward = backward


def fewer_digits() -> None:
    really = sklearn.datasets.load_digits

    def fewer(value):
        return value[:SAMPLES] if isinstance(value, numpy.ndarray) else value

    def load_digits(*given, **settings):
        found = really(*given, **settings)
        if isinstance(found, Bunch):
            return Bunch(**{key: fewer(value) for key, value in found.items()})
        return tuple(map(fewer, found))

    sklearn.datasets.load_digits = load_digits


def files_of(folder: Path) -> dict[str, object]:
    """What the run has left behind, by path: numbers as they are compared."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = re.sub(r"\d{10}\.\d+", "TIME", path.relative_to(folder).as_posix())
        if path.is_dir() or "__pycache__" in name or path.is_symlink():
            continue
        if "tfevents" in name:
            found["tfevents"] = True
        elif path.suffix == ".jsonl":
            found[name] = [_numbers(json.loads(row)) for row in path.read_text().splitlines()]
        elif path.suffix == ".csv":
            found[name] = list(csv.reader(io.StringIO(path.read_text())))
        elif path.suffix == ".safetensors":
            from safetensors.torch import load_file

            tensors = load_file(path)
            found[name] = {key: short(value.float().sum()) for key, value in tensors.items()}
        elif path.name == "loop.pt":
            states = torch.load(path, weights_only=True)
            found[name] = {
                key: str(value) for key, value in states.items() if not TIMES.search(key)
            }
        else:
            found[name] = True
    return found


def _numbers(values: dict) -> dict:
    return {
        key: short(value) if isinstance(value, int | float) else value
        for key, value in values.items()
        if not TIMES.search(key)
    }


def printed(text: str) -> list[str]:
    """The lines, sorted, without what differs from run to run."""
    rows = []
    for row in text.splitlines():
        parts = [part for part in row.split(" | ") if not TIMES.search(part)]
        rows.append(re.sub(r"\d+\.\d+(e[-+]\d+)?", lambda m: short(float(m[0])), " | ".join(parts)))
    return sorted(row for row in rows if row.strip())


def main() -> None:
    result, script, *arguments = sys.argv[1:]
    sys.argv = [script, *arguments, "--output-dir", "runs/latest"]
    sys.path[0] = str(Path.cwd() / Path(script).parent)
    sys.path[1:1] = [str(Path.cwd()), *filter(None, [os.environ.get("SCAFFOLD_STAND_INS")])]
    there = {path.as_posix() for path in Path().rglob("*") if path.is_file()}
    modules.register_module_forward_pre_hook(enter)
    modules.register_module_forward_hook(leave, always_call=True)
    optimizers.register_optimizer_step_pre_hook(step)
    note_losses()
    fewer_digits()
    out, said, status = io.StringIO(), "", 0
    with redirect_stdout(out):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
            said = "" if stop.code in (None, 0) else f"SystemExit: {stop.code}"
        except BaseException:
            status, said = 1, traceback.format_exc()
    found = {
        "status": status,
        "said": said,
        "events": events,
        "printed": printed(out.getvalue()),
        "files": {name: x for name, x in files_of(Path()).items() if name not in there},
    }
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
