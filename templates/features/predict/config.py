from dataclasses import fields
from typing import get_args

#: slot config_functions
def newest_run() -> Path:
    """The newest run in runs/ that is finished."""
    found = Path("runs").glob("*/model.safetensors")
    newest = max(found, key=lambda path: path.stat().st_mtime, default=None)
    if not newest:
        raise SystemExit("No run in runs/ is finished: train first, or name one with --run.")
    return newest.parent
