"""In a project: what each data set gives, or how it is refused. Folders and settings are read
from the standard input; a result is a hash of all samples, a message, or a traceback."""

import contextlib
import hashlib
import io
import json
import sys
import traceback
from dataclasses import replace

import data
import torch
import train


def plain(value):
    """A value without its type: what a sample holds. Many numbers are there as a hash of them."""
    if isinstance(value, torch.Tensor):
        numbers = value.double().numpy(force=True).tobytes()
        return [list(value.shape), hashlib.sha256(numbers).hexdigest()]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "__dict__"):
        return plain(vars(value))
    return value if isinstance(value, int | float | str | None) else str(value)


def read(settings):
    torch.manual_seed(0)
    config = replace(train.Config(), **settings)
    parts = data.build_datasets(config)
    data.build_loaders(config)  # says what was understood
    samples = [[plain(part[index]) for index in range(len(part))] for part in parts]
    lines = data.describe_data(config) if hasattr(data, "describe_data") else ""
    return hashlib.sha256(json.dumps(samples).encode()).hexdigest(), str(lines)


results = []
for folder, settings in json.loads(sys.stdin.read()):
    for kept in vars(data).values():  # files of several cases have one name
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()
    said = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stderr(said))
        stack.enter_context(contextlib.redirect_stdout(said))
        try:
            found, lines = read(settings)
            result = {"read": found, "lines": lines}
        except (SystemExit, OSError) as stop:
            result = {"refused": str(stop)}
        except Exception:
            result = {"failed": traceback.format_exc()}
    results.append({**result, "said": said.getvalue()})
print(json.dumps(results))
