#: into data.py at build_datasets
"""Files in train/, val/ and test/."""

from pathlib import Path


def find_split(folder: Path, name: str) -> Path:
    """The subfolder of a split. Beside train/, val/ can also be named valid/ or validation/."""
    names = (name, "valid", "validation") if name == "val" else (name,)
    found = [folder / other for other in names if (folder / other).is_dir()]
    if not found or not (folder / "train").is_dir():
        return folder / name
    if len(found) > 1:
        raise SystemExit(f"{found[0]} and {found[1]} are both validation data: keep one of them.")
    return found[0]


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
