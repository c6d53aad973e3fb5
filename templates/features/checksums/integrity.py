#: file
"""Checksums of the files of a checkpoint."""

import json
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def write_checksums(folder: Path) -> None:
    """Write checksums.json, and wait until all files are on the disk."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    with ThreadPoolExecutor() as pool:
        pool.map(flush, files)  # the disk writes while checksums are computed
        checksums = {path.relative_to(folder).as_posix(): checksum(path) for path in files}
    (folder / "checksums.json").write_text(json.dumps(checksums, indent=1))
    for path in [*folder.rglob("*"), folder]:
        flush(path)


def flush(path: Path) -> None:
    """Wait until a file or a folder is on the disk, and not only in the memory of the system."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def is_intact(folder: Path) -> bool:
    """Whether all files of a checkpoint are as they were saved. Names those that are not."""
    if not (folder / "checksums.json").exists():  # saved without checksums
        return (folder / "run.pt").exists()
    try:
        saved = json.loads((folder / "checksums.json").read_text())
        changed = [name for name in saved if checksum(folder / name) != saved[name]]
    except (OSError, ValueError, TypeError) as error:
        changed = [str(error)]
    if changed:
        print(f"{folder} is damaged or incomplete: {', '.join(changed)}")
    return not changed


def checksum(path: Path) -> str:
    """The CRC-32 of a file, which detects corruption, not tampering."""
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return f"{value:08x}"
