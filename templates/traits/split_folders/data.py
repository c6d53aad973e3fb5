from pathlib import Path

#: slot build_datasets
def find_split(folder: Path, name: str) -> Path:
    """The subfolder of a split. Beside train/, val/ can also be named valid/ or validation/."""
    names = (name, "valid", "validation") if name == "val" else (name,)
    found = [folder / other for other in names if (folder / other).is_dir()]
    if not found or not (folder / "train").is_dir():
        return folder / name
    if len(found) > 1:
        raise SystemExit(f"{found[0]} and {found[1]} are both validation data: keep one of them.")
    return found[0]
