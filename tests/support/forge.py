"""Forges checkpoints: each file in turn holds code instead of data, in many ways to write it.

Code that is executed makes a folder.
"""

import hashlib
import io
import json
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

from support.paths import DRIVERS
from support.training import start

DRIVER = DRIVERS / "load_forged.py"
# files that are not in each checkpoint, but that something might look for
LOOKED_FOR = ["pytorch_model.bin", "custom_checkpoint_0.pkl", "scheduler.bin", "sampler.bin"]
LOOKED_FOR += ["scaler.pt", "dl_state_dict.bin"]


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return os.makedirs, (str(self.target), 0o777, True)


def checksum(data: bytes) -> str:
    """As a project writes it."""
    return hashlib.sha256(data).hexdigest()


def seal(checkpoint: Path) -> None:
    """Write the checksums of the files as they are, as a forger would."""
    path = checkpoint / "digests.json"
    files = [file for file in sorted(checkpoint.rglob("*")) if file.is_file() and file != path]
    found = {file.relative_to(checkpoint).as_posix(): checksum(file.read_bytes()) for file in files}
    path.write_text(json.dumps(found))


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


def forge(genuine: Path, folder: Path, executed: Path) -> int:
    """How many copies of a checkpoint were made, each with another file or way to write it."""
    folder.mkdir()
    names = [path.relative_to(genuine).as_posix() for path in genuine.rglob("*") if path.is_file()]
    read = [name for name in names if not name.endswith((".json", ".py"))]
    for name in sorted({*read, *LOOKED_FOR}):
        label = name.replace("/", "-")
        # the files of all processes together, or some would wait for the others
        twins = [name.replace("_0.", "_1."), name.replace("__0_", "__1_")]
        twins = [name, *(twin for twin in twins if twin in names and twin != name)]
        if "_1." in name or "__1_" in name:
            continue
        for way, content in ways(Bomb(executed / label)).items():
            copy = shutil.copytree(genuine, folder / f"{label}.{way}")
            for twin in twins:
                (copy / twin).write_bytes(content)
            if name == "pytorch_model.bin":
                (copy / "model.safetensors").unlink(missing_ok=True)
            seal(copy)
    forge_parts(genuine, folder, executed)
    return len(list(folder.iterdir()))


def forge_parts(genuine: Path, folder: Path, executed: Path) -> None:
    """Lists of parts as PyTorch writes them, with code among their values, or in a part."""
    for path in genuine.rglob(".metadata"):
        inside = path.relative_to(genuine)
        for way in ("planner_data", "storage_data", "storage_meta", "values"):
            bomb = Bomb(executed / f"{inside.parent}-{way}")
            copy = shutil.copytree(genuine, folder / f"{inside.parent}.{way}")
            metadata = pickle.loads(path.read_bytes())
            if way == "values":
                forge_values(metadata, copy / inside.parent, pickle.dumps(bomb))
            elif way == "storage_data":
                metadata.storage_data["more"] = bomb
            else:
                setattr(metadata, way, bomb)
            (copy / inside).write_bytes(pickle.dumps(metadata))
            seal(copy)


def forge_values(metadata: Any, folder: Path, code: bytes) -> None:
    """Let the values that are no tensors be at the end of a part, where code is."""
    kinds = metadata.state_dict_metadata
    for index, stored in metadata.storage_data.items():
        if type(kinds[index.fqn]).__name__ == "BytesStorageMetadata":
            part = folder / stored.relative_path
            stored.offset, stored.length = part.stat().st_size, len(code)
            part.write_bytes(part.read_bytes() + code)


def assert_nothing_is_executed(project: Path, processes: int, **environment: str) -> None:
    """Forge each file of the first checkpoint of a run, load them all, and see what that does."""
    genuine, executed = min((project / "runs").glob("*/checkpoint_*")), project / "executed"
    count = forge(genuine, project / "forged", executed)
    shutil.copy(DRIVER, project)
    script = [DRIVER.name, "split" if processes > 1 else "whole"]
    result = start(project, script, processes, 400, **environment)
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    said = {line["forged"]: line["said"] for line in lines}
    assert len(said) == count >= 50, result.stderr
    assert not executed.exists(), list(executed.iterdir())
    for name, message in said.items():
        refused = message != "loaded"
        assert "weights_only" not in message and "can still be loaded" not in message
        if name.startswith(("loop.pt", "optimizer", "pytorch_model_fsdp")):
            # where all values are tensors, there are no others to forge
            assert refused or name == "pytorch_model_fsdp_0.values", f"{name} was loaded"
