"""`scaffold eject --prove N`: trains the script and the project side by side, and compares them."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scaffold.eject.plan import Plan
from scaffold.errors import ScaffoldError

CLOSE = 1e-6


def prove(plan: Plan, folder: Path, updates: int) -> tuple[list[str], bool]:
    """What to say, and whether they differ. Runs the script. Raises ScaffoldError if one fails."""
    script, loaders = str(plan.script.path), str(1 + plan.has_val + plan.has_test)
    if script.endswith(".ipynb"):
        raise ScaffoldError("--prove runs scripts: write the notebook as a .py file for it.")
    with tempfile.TemporaryDirectory() as scratch:
        record = str(Path(scratch, "record.pt"))
        _run("record.py", "the script", script, plan.framework, str(updates), record)
        found = json.loads(_run("replay.py", "the project", str(folder), record, loaders))
    one, two = found["batches"]
    rows = [
        f"{found['updates']} updates on the same {one} batches, from the same weights, in 32 bits:",
        f"  largest difference of losses: {found['loss']:.2g}",
        f"  largest difference of weights: {found['weights']:.2g} (in {found['weight']})",
        f"  training moved a weight by up to {found['moved']:.2g}",
    ]
    different = max(found["loss"], found["weights"]) > CLOSE or one != two or not found["moved"]
    if found["first"]:
        rows.append(f"  it began with batch {found['first']}")
    if one != two:
        rows.append(f"  the script trained on {one} batches, the project on {two}")
    if found["missing"]:
        rows.append(f"  only one of them has the weights {', '.join(found['missing'])}")
    return rows, different


def _run(program: str, what: str, *arguments: str) -> str:
    python = shutil.which("python") or sys.executable
    command = [python, str(Path(__file__).parent / "proof" / program), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        tail = "\n".join((result.stderr or result.stdout).strip().split("\n")[-8:])
        raise ScaffoldError(f"--prove: {what} failed:\n{tail}")
    return result.stdout.strip().split("\n")[-1]
