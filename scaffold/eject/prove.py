"""`scaffold eject --prove N`: trains the script and the project side by side, and compares them."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scaffold.errors import ScaffoldError

CLOSE = 1e-6


def prove(script: Path, framework: str, folder: Path, updates: int) -> tuple[list[str], bool]:
    """What to say, and whether they differ. Runs the script. Raises ScaffoldError if one fails."""
    with tempfile.TemporaryDirectory() as scratch:
        record, replay = Path(scratch, "record.pt"), Path(scratch, "replay.pt")
        _run("record.py", "the script", str(script.resolve()), framework, str(updates), str(record))
        _run("replay.py", "the project", str(folder), str(record), str(replay))
        found = json.loads(_run("compare.py", "the comparison", str(record), str(replay)))
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
