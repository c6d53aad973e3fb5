"""Forges checkpoints: each file in turn holds code instead of data, in every way to write it.

Code that is executed makes a folder.
"""

import io
import json
import os
import pickle
import shutil
import zlib
from pathlib import Path
from typing import Any

# files that are not in each checkpoint, but that something might look for
LOOKED_FOR = [
    "pytorch_model.bin",
    "custom_checkpoint_0.pkl",
    "scheduler.bin",
    "sampler.bin",
    "scaler.pt",
    "dl_state_dict.bin",
]


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return os.makedirs, (str(self.target), 0o777, True)


def seal(checkpoint: Path) -> None:
    """Write the sizes and checksums of the files as they are, as a forger would."""
    path = checkpoint / "checkpoint.json"
    facts = json.loads(path.read_text())
    facts.pop("checksum")
    files = {file.relative_to(checkpoint).as_posix(): file for file in checkpoint.rglob("*")}
    files = {name: file for name, file in files.items() if file.is_file() and file != path}
    facts["files"] = {name: file.stat().st_size for name, file in files.items()}
    facts["checksums"] = {name: f"{zlib.crc32(file.read_bytes()):08x}" for name, file in files.items()}
    facts["checksum"] = f"{zlib.crc32(json.dumps(facts).encode()):08x}"
    path.write_text(json.dumps(facts))


def ways(bomb: Bomb) -> dict[str, bytes]:
    """What a file holds that is not what it should be, by the way it was written."""
    import torch

    found = {f"pickle{protocol}": pickle.dumps(bomb, protocol) for protocol in (0, 2, 4, 5)}
    nested = {"weight": torch.zeros(1), "state": [bomb]}
    for way, zipped in (("zip", True), ("legacy", False)):
        file = io.BytesIO()
        torch.save(nested, file, _use_new_zipfile_serialization=zipped)
        found[way] = file.getvalue()
    return found


def forge(genuine: Path, folder: Path, executed: Path) -> list[str]:
    """Copies of a checkpoint, each with another file or another way to write it."""
    names = [path.relative_to(genuine).as_posix() for path in genuine.rglob("*") if path.is_file()]
    names = [name for name in names if not name.endswith(".json")]
    forged = []
    for name in sorted({*names, *LOOKED_FOR}):
        if "_1." in name or "__1_" in name:
            continue  # together with that of the first process
        label = name.replace("/", "-")
        for way, content in ways(Bomb(executed / label)).items():
            copy = folder / f"{label}.{way}"
            shutil.copytree(genuine, copy)
            both = [name, name.replace("_0.", "_1.").replace("__0_", "__1_")]
            for twin in both if both[1] in names else both[:1]:
                (copy / twin).write_bytes(content)
            if name == "pytorch_model.bin":
                for weights in copy.glob("*.safetensors"):
                    weights.unlink()
            seal(copy)
            forged.append(copy.name)
    return forged


def forge_parts(genuine: Path, folder: Path, executed: Path) -> list[str]:
    """Lists of parts as PyTorch writes them, with a bomb among their values or in a part."""
    forged = []
    for listed in sorted(genuine.rglob(".metadata")):
        inside = listed.relative_to(genuine)
        for way in ("planner_data", "storage_data", "storage_meta", "values"):
            bomb = Bomb(executed / f"{inside.parent}-{way}")
            copy = shutil.copytree(genuine, folder / f"{inside.parent}.{way}")
            metadata = pickle.loads(listed.read_bytes())
            if way == "values":
                code = pickle.dumps(bomb)
                for key, entry in metadata.state_dict_metadata.items():
                    if type(entry).__name__ != "BytesStorageMetadata":
                        continue
                    for index, stored in metadata.storage_data.items():
                        if index.fqn == key:
                            part = copy / inside.parent / stored.relative_path
                            stored.offset, stored.length = part.stat().st_size, len(code)
                            with part.open("ab") as file:
                                file.write(code)
            elif way == "storage_data":
                metadata.storage_data["more"] = bomb
            else:
                setattr(metadata, way, bomb)
            (copy / inside).write_bytes(pickle.dumps(metadata))
            seal(copy)
            forged.append(copy.name)
    return forged
