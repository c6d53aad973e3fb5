"""`scaffold eject --prove N`: trains the script and the project side by side, and compares them."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scaffold.eject.plan import Plan
from scaffold.errors import ScaffoldError


def prove(plan: Plan, folder: Path, updates: int) -> tuple[list[str], bool]:
    """What to say, and whether they differ. Runs the script. Raises ScaffoldError if one fails."""
    script, loaders = str(plan.script.path), str(1 + len(plan.sets))
    if script.endswith(".ipynb"):
        raise ScaffoldError("--prove runs scripts: write the notebook as a .py file for it.")
    with tempfile.TemporaryDirectory() as scratch:
        record = str(Path(scratch, "record.pt"))
        _run("the script", "record", script, plan.framework, str(updates), record)
        rows, different = json.loads(_run("the project", "replay", str(folder), record, loaders))
    return rows, different


def _run(what: str, *arguments: str) -> str:
    command = [shutil.which("python") or sys.executable, f"{Path(__file__).parent}/proof/run.py"]
    result = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    if result.returncode:
        tail = "\n".join((result.stderr or result.stdout).strip().split("\n")[-8:])
        raise ScaffoldError(f"--prove: {what} failed:\n{tail}")
    return result.stdout.strip().split("\n")[-1]
