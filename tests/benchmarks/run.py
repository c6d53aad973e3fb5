"""All measurements, or those that are named: `python tests/benchmarks/run.py [steps ...]`.

Results are kept in results.json beside it; `python tests/benchmarks/report.py` makes the table and
the picture of the README from them.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from importlib import import_module
from importlib.metadata import distributions, version
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported
os.environ["HF_HUB_OFFLINE"] = "1"

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PACKAGES = [
    *["torch", "accelerate", "lightning", "pytorch-accelerated", "transformers"],
    *["pytorch-ignite", "copier", "cookiecutter", "cruft"],
    *["timm", "torchvision"],
]
# the module, its function, and how often it measures
MEASURES = {
    "steps": ("steps", "measure_steps", 7),
    "parts": ("parts", "measure_parts", 7),
    "startup": ("startup", "measure_startup", 3),
    "memory": ("evaluation_memory", "measure_memory", 1),
    "checkpoints": ("checkpoint_time", "measure_checkpoints", 5),
    "commands": ("command_line", "measure_command_line", 5),
    "scale": ("scale", "measure_scale", 5),
    "signals": ("scale", "measure_signals", 5),
    "images": ("image_loading", "measure_images", 9),
}


def machine() -> dict[str, object]:
    """What the figures belong to."""
    installed = {distribution.name for distribution in distributions()}
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "date": date.today().isoformat(),
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {
            **{name: version(name) for name in PACKAGES if name in installed},
            **trainite_version(),
        },
    }


def trainite_version() -> dict[str, str]:
    """Of the environment that it has for itself, if there is one."""
    from command_line import TRAINITE

    code = "from importlib.metadata import version; print(version('trainite'))"
    command = [str(TRAINITE / "python"), "-c", code]
    if not TRAINITE.is_dir():
        return {}
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {"trainite": done.stdout.strip()}


def main(names: list[str]) -> None:
    if wrong := set(names) - set(MEASURES):
        raise SystemExit(f"{', '.join(wrong)}: no measurement. There are {', '.join(MEASURES)}.")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names or MEASURES:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        module, function, rounds = MEASURES[name]
        with tempfile.TemporaryDirectory() as folder:
            results[name] = getattr(import_module(module), function)(Path(folder), rounds)
        results.setdefault("machines", {})[name] = machine()
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
