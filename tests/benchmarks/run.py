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
ROUNDS = {
    "steps": 7,
    "parts": 7,
    "startup": 3,
    "checkpoints": 5,
    "commands": 5,
    "scale": 5,
    "signals": 5,
    "images": 9,
}


def measure(name: str, folder: Path) -> object:
    """The figures of one measurement; its modules are imported only for it."""
    if name == "steps":
        from steps import measure_steps

        return measure_steps(ROUNDS[name])
    if name == "parts":
        from parts import measure_parts

        return measure_parts(ROUNDS[name])
    if name == "startup":
        from startup import measure_startup

        return measure_startup(folder, ROUNDS[name])
    if name == "memory":
        return measure_memory()
    if name == "checkpoints":
        from checkpoint_time import measure_checkpoints

        return measure_checkpoints(folder, ROUNDS[name])
    if name == "commands":
        from command_line import measure_command_line

        return measure_command_line(folder, ROUNDS[name])
    if name == "signals":
        from scale import measure_signals

        return measure_signals(folder, ROUNDS[name])
    if name == "images":
        from image_loading import measure_images

        return measure_images(folder, ROUNDS[name])
    from scale import measure_scale

    return measure_scale(folder, ROUNDS[name])


NAMES = ["steps", "parts", "startup", "memory", "checkpoints", "commands", "scale", "signals"]
NAMES += ["images"]


def measure_memory() -> dict[str, dict[str, float]]:
    """Megabytes that an evaluation adds to its process, by what evaluates and number of samples."""
    found: dict[str, dict[str, float]] = {}
    for way in ("scaffold", "all outputs kept", "HF Trainer"):
        for samples in ("10000", "100000", "1000000"):
            command = [sys.executable, str(HERE / "evaluation_memory.py"), way, samples]
            result = subprocess.run(command, check=True, capture_output=True, text=True)
            found.setdefault(way, {})[samples] = float(result.stdout.splitlines()[-1])
    return found


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
    if wrong := set(names) - set(NAMES):
        raise SystemExit(f"{', '.join(wrong)}: no measurement. There are {', '.join(NAMES)}.")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names or NAMES:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            results[name] = measure(name, Path(folder))
        results.setdefault("machines", {})[name] = machine()
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
