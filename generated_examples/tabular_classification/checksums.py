"""Checksums of the files of a checkpoint, which tell whether a bit of them has changed."""

import json
import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from files import flush


def checksum(path: Path) -> str:
    """The CRC-32 of a file, or why it can't be read. It shows damage, but not a forgery."""
    value = 0
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                value = zlib.crc32(block, value)
    except OSError as error:
        return str(error)
    return f"{value:08x}"


def is_own(accelerator, name: str) -> bool:
    """Whether this process has written a file, such as random_states_1.pkl: those have a number."""
    number = re.search(r"_(\d+)[^/]*$", name)
    process = int(number[1]) % accelerator.num_processes if number else 0
    return process == accelerator.process_index


def flush_own_files(accelerator, folder: Path) -> None:
    """Wait until the files of this process are on the disk, and write down their checksums."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    own = [name for name, path in files.items() if path.is_file() and is_own(accelerator, name)]
    with ThreadPoolExecutor() as pool:  # reads while the disk writes
        checksums = pool.map(checksum, [files[name] for name in own])
        for name in own:
            flush(files[name])
        found = dict(zip(own, checksums, strict=True))
    (folder / f"checksums_{accelerator.process_index}.json").write_text(json.dumps(found))


def is_sound(accelerator, folder: Path) -> bool:
    """Whether all files are as they were saved. All processes call it together."""
    saved = read_facts(folder).get("checksums", {})  # earlier versions wrote none
    own = [name for name in saved if is_own(accelerator, name)]
    with ThreadPoolExecutor() as pool:
        found = dict(zip(own, pool.map(checksum, [folder / name for name in own]), strict=True))
    changed = [name for name in own if found[name] != saved[name]]
    for name in changed:
        print(f"{folder / name} is not as it was saved", flush=True)
    count = torch.tensor(float(len(changed)), device=accelerator.device)
    return float(accelerator.reduce(count, "sum")) == 0


def write_facts(folder: Path, processes: int, facts: dict) -> None:
    """Write checkpoint.json: `facts`, with the sizes and checksums of all files."""
    checksums: dict[str, str] = {}
    for process in range(processes):
        part = folder / f"checksums_{process}.json"
        checksums |= json.loads(part.read_text())
        part.unlink()
    facts["files"] = {name: (folder / name).stat().st_size for name in checksums}
    facts["checksums"] = checksums
    facts["checksum"] = facts_checksum(facts)
    (folder / "checkpoint.json").write_text(json.dumps(facts, indent=1))


def read_facts(folder: Path) -> dict:
    """What checkpoint.json says, or a ValueError if it has changed."""
    facts = json.loads((folder / "checkpoint.json").read_text())
    saved = facts.pop("checksum", None)
    if (saved or "checksums" in facts) and saved != facts_checksum(facts):
        raise ValueError("checkpoint.json is not as it was saved")
    return facts


def facts_checksum(facts: dict) -> str:
    return f"{zlib.crc32(json.dumps(facts).encode()):08x}"


def is_complete(folder: Path) -> bool:
    """Whether a checkpoint has all its files, with all their bytes, and its settings unchanged."""
    try:
        facts = read_facts(folder)
        whole = [(folder / name).stat().st_size == size for name, size in facts["files"].items()]
        settings = facts.get("checksums", {}).get("config.json")
        unchanged = settings in (None, checksum(folder / "config.json"))
        return isinstance(facts["number"], int) and all(whole) and unchanged
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False
