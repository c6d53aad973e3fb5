#: into data.py at build_datasets
"""Folders: those of splits and of classes, and hidden ones."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from lib.notes import note

SPLITS = {
    "train": ("train", "training"),
    "val": ("val", "valid", "validation", "dev"),
    "test": ("test", "testing"),
}


def is_hidden(path: Path, folder: Path) -> bool:
    """Whether a path below a folder is hidden, or was left there by a program."""
    parts = path.relative_to(folder).parts
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


def note_others(folder: Path, paths: Iterable[Path]) -> None:
    """Say how many of these files are not read, by their endings. Hidden ones do not count."""
    shown = [path for path in paths if path.is_file() and not is_hidden(path, folder)]
    if endings := Counter(path.suffix.lower() for path in shown):
        named = (f"{count} {ending or 'without an ending'}" for ending, count in endings.items())
        note(f"{folder}: ignored files: {', '.join(sorted(named))}")


def note_outside(folder: Path, used: Iterable[Path]) -> None:
    """Say what in a folder is not read, beside these folders. Hidden files do not count."""
    used = {*used}
    if others := [path.name for path in list_shown(folder) if path not in used]:
        more = f" and {len(others) - 5:,} more" * (len(others) > 5)
        note(f"{folder}: ignored: {', '.join(others[:5])}{more}")


def list_shown(folder: Path) -> list[Path]:
    """What is in a folder, in the order of the names. Hidden files and folders are left out."""
    return sorted(path for path in folder.glob("*") if not is_hidden(path, folder))


def list_folders(folder: Path) -> list[Path]:
    """The subfolders in the order of their names. Hidden ones are left out."""
    return [path for path in list_shown(folder) if path.is_dir()]


def find_split(folder: Path, name: str) -> Path:
    """The subfolder of a split: train/, or beside it Training/, valid/, Test/ and so on.

    Without train/, such a folder is beside those of the classes, and has folders of them, too.
    """
    found = {
        split: [path for path in list_folders(folder) if path.name.lower() in names]
        for split, names in SPLITS.items()
    }
    if not found["train"]:
        found[name] = [path for path in found[name] if list_folders(path)]
    if not found[name]:
        return folder / name
    if len(found[name]) > 1:
        both, kind = " and ".join(map(str, found[name][:2])), {"val": "validation"}.get(name, name)
        raise SystemExit(f"{both} are both {kind} data: keep one of them.")
    return found[name][0]


def class_folders(folder: Path) -> list[Path]:
    """The subfolders, one for each class. Raises SystemExit if they look like splits.

    Folders of validation and test data beside them are left out.
    """
    splits = [find_split(folder, name) for name in ("val", "test")]
    found = [path for path in list_folders(folder) if path not in splits or not list_folders(path)]
    inner = [sorted(path.name for path in list_shown(place)) for place in found]
    same = len(inner) > 1 and len(inner[0]) > 1 and all(names == inner[0] for names in inner)
    if same and all(path.is_dir() for path in list_shown(found[0])):
        names = ", ".join(path.name for path in found[:4])
        raise SystemExit(
            f"{folder} has the folders {names}, and each of them {', '.join(inner[0][:4])}: which "
            "are the classes? Put their folders into train/, val/ and test/, or name a folder that "
            "has only them."
        )
    return found


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
