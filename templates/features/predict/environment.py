#: slot config_functions without checkpoints
def read_settings(folder) -> dict:
    """The settings of a run or a checkpoint."""
    path = Path(folder, "config.json")
    try:
        return dict(json.loads(path.read_text())["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} can't be read: {error!r}") from error
