"""Checksums of files. They detect corruption, not tampering."""

import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from accelerate import PartialState
from accelerate.utils import broadcast_object_list

from files import flush
from progress import log


def checksum(path: Path) -> str:
    """The CRC-32 of a file, or an empty string if it can't be read."""
    value = 0
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                value = zlib.crc32(block, value)
    except OSError:
        return ""
    return f"{value:08x}"


def write_manifest(folder: Path, manifest: dict) -> None:
    """Write checkpoint.json with the checksums of all files, and wait until all are on the disk."""
    files = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    with ThreadPoolExecutor() as pool:  # reading overlaps with writing
        checksums = pool.map(checksum, files.values())
        for path in files.values():
            flush(path)
    manifest["files"] = {name: path.stat().st_size for name, path in files.items()}
    manifest["checksums"] = dict(zip(files, checksums, strict=True))
    manifest["checksum"] = manifest_checksum(manifest)
    (folder / "checkpoint.json").write_text(json.dumps(manifest, indent=1))
    for path in [folder / "checkpoint.json", *filter(Path.is_dir, folder.rglob("*")), folder]:
        flush(path)


def read_manifest(folder: Path) -> dict:
    """Read checkpoint.json. Raises ValueError if it has changed."""
    manifest = json.loads((folder / "checkpoint.json").read_text())
    saved = manifest.pop("checksum", None)
    if (saved or "checksums" in manifest) and saved != manifest_checksum(manifest):
        raise ValueError("checkpoint.json is not as it was saved")
    return manifest


def manifest_checksum(manifest: dict) -> str:
    return f"{zlib.crc32(json.dumps(manifest).encode()):08x}"


def is_complete(folder: Path) -> bool:
    """Whether a checkpoint has all its files, with all their bytes, and its settings unchanged."""
    try:
        manifest = read_manifest(folder)
        whole = [(folder / name).stat().st_size == size for name, size in manifest["files"].items()]
        saved = manifest.get("checksums", {}).get("config.json")
        unchanged = saved in (None, checksum(folder / "config.json"))
        return isinstance(manifest["number"], int) and all(whole) and unchanged
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False


def matches_checksums(folder: Path) -> bool:
    """Whether all files are as they were saved. All processes call it together."""
    changed = []
    if PartialState().is_main_process:  # reads them for all processes
        saved = read_manifest(folder).get("checksums", {})  # none before an update of the project
        with ThreadPoolExecutor() as pool:
            found = pool.map(checksum, [folder / name for name in saved])
        changed = [name for name, now in zip(saved, found, strict=True) if now != saved[name]]
    for name in changed:
        log(f"{folder / name} is not as it was saved")
    return not broadcast_object_list([changed])[0]
