#: into config.py at functions
"""The settings that all runs in a folder share."""

import json
from pathlib import Path


def check_settings(folder: Path, settings: dict, begun: bool) -> None:
    """Write settings.json, or exit if runs in this folder have begun with other settings."""
    path = folder / "settings.json"
    new = json.loads(json.dumps(settings, default=str))
    del new["output_dir"]
    if not begun:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(new, indent=2))
        return
    if not path.exists():
        raise SystemExit(f"{folder} holds other runs: use another --output-dir.")
    if changes := list_changes(json.loads(path.read_text()), new):
        raise SystemExit(
            f"{folder} has runs with other settings: {'; '.join(changes)}. "
            "Use the old ones, or another --output-dir."
        )


def list_changes(old: dict, new: dict) -> list[str]:
    """What differs between two dictionaries, in words."""
    changes = []
    for name in old | new:
        if name not in old:
            changes.append(f"{name} is {new[name]!r}, and was not there")
        elif name not in new:
            changes.append(f"{name} was {old[name]!r}, and is gone")
        elif old[name] != new[name]:
            changes.append(f"{name} is {new[name]!r}, and was {old[name]!r}")
    return changes
