#: slot config_functions
def read_settings(path) -> dict:
    """The settings of a run."""
    try:
        return dict(json.loads((path / "config.json").read_text())["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path / 'config.json'} can't be read: {error!r}") from error
