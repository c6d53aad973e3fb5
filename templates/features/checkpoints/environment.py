from progress import log

#: slot config_functions
def read_settings(folder) -> dict:
    """The settings of a run or a checkpoint."""
    path = Path(folder, "config.json")
    try:
        return dict(json.loads(path.read_text())["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} can't be read: {error!r}") from error


def compare_settings(accelerator, config, path, fixed) -> None:
    """Log the settings that differ from those of a checkpoint. Exit if one of `fixed` differs."""
    saved, settings = read_settings(path), list_settings(accelerator, config)
    for name in settings | saved:
        old, new = saved.get(name), settings.get(name)
        if name in ("output_dir", "resume") or str(new) == str(old):  # paths are saved as text
            continue
        if name in fixed:
            raise SystemExit(f"{name} was {old}, not {new}. Use the same value or start a new run.")
        log(f"{name} is {new}, and was {old} when the checkpoint was saved")
