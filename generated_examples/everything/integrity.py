"""Damage to the files of a checkpoint."""

import json
import os
from functools import cache
from hashlib import file_digest
from pathlib import Path


def compute_digests(folder: Path) -> dict[str, str]:
    """The SHA-256 digest of each file."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "digests.json":
            with path.open("rb") as file:
                digests[str(path.relative_to(folder))] = file_digest(file, "sha256").hexdigest()
    return digests


@cache
def is_intact(folder: Path) -> bool:
    """Whether all files of a checkpoint are as they were saved. Names those that are not."""
    try:
        saved = dict(json.loads((folder / "digests.json").read_text()))
        digests = compute_digests(folder)
        changed = [name for name in saved if saved.get(name) != digests.get(name)]
    except (OSError, ValueError, TypeError, RecursionError) as error:
        changed = [str(error)]
    if changed:
        print(f"{folder} is damaged or incomplete: {', '.join(changed)}")
    return not changed


def flush(folder: Path) -> None:
    """Wait until a folder is on the disk, and not only in the memory of the system."""
    for path in (*folder.rglob("*"), folder):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
