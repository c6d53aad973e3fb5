"""What a folder with a pretrained model says of it: config.json, and the headers of its weights.

The weights are not read. A name on the Hub is looked for among the downloaded models.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

LONGEST = 100 * 2**20  # bytes of a header: safetensors refuses longer ones, too
INDEX = "model.safetensors.index.json"


@dataclass(frozen=True)
class Weights:
    """How many numbers a model has, and its config.json."""

    parameters: int
    largest: int  # numbers of the largest tensor
    config: Mapping[str, Any] = field(default_factory=dict)


def read_weights(name: str, place: Path) -> Weights | str:
    """Of a folder, relative to `place`, or of a downloaded model. A text says why it is not known.

    Format: https://huggingface.co/docs/safetensors, where a header lists the shape of each tensor.
    """
    folder = _find(name, place)
    if folder is None:
        return f"{name} is not on this machine"
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        sizes = [prod(shape) for path in _files(folder) for shape in _shapes(path)]
        return Weights(sum(sizes), max(sizes), config)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return f"{name} has no config.json and safetensors that can be read"


def _find(name: str, place: Path) -> Path | None:
    """Where huggingface_hub looks: the folder of this name, or its cache."""
    path = place / Path(name).expanduser()
    if path.is_dir():
        return path
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    try:
        model = cache / f"models--{name.replace('/', '--')}"
        path = model / "snapshots" / (model / "refs" / "main").read_text().strip()
        return path if path.is_dir() else None
    except (OSError, ValueError):
        return None


def _files(folder: Path) -> list[Path]:
    if not (folder / INDEX).is_file():
        return [folder / "model.safetensors"]
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    return [folder / Path(name).name for name in sorted(set(index["weight_map"].values()))]


def _shapes(path: Path) -> list[list[int]]:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > LONGEST:
            raise ValueError(f"{path} is not a safetensors file")
        header = json.loads(file.read(length))
    return [row["shape"] for name, row in header.items() if name != "__metadata__"]
