from dataclasses import fields
from typing import get_args

#: slot config_functions without checkpoints
def read_settings(folder: Path) -> dict:
    """The settings of a run or a checkpoint."""
    path = Path(folder, "config.json")
    try:
        return dict(json.loads(path.read_text())["settings"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SystemExit(f"{path} can't be read: {error!r}") from error


def load_config(folder: Path) -> Config:
    """The settings of a saved run. What is new, or no longer possible, has its default."""
    saved, values = read_settings(folder) | {"output_dir": Path(folder)}, {}
    for field in fields(Config):
        value, choices = saved.get(field.name, field.default), get_args(field.type)
        values[field.name] = field.default if choices and value not in choices else value
        if type(value) not in (type(field.default), int):
            raise SystemExit(f"{folder / 'config.json'}: {field.name} can't be {value!r}.")
    try:
        return Config(**values)
    except ValueError as error:
        raise SystemExit(f"{folder / 'config.json'}: {error}.") from error


#: slot config_functions with predict
def newest_run() -> Path:
    """The newest run in runs/ that is finished."""
    found = Path("runs").glob("*/model.safetensors")
    newest = max(found, key=lambda path: path.stat().st_mtime, default=None)
    if not newest:
        raise SystemExit("No run in runs/ is finished: train first, or name one with --run.")
    return newest.parent
