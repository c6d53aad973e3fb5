from progress import log

#: slot config_functions
def read_settings(folder) -> dict:
    """The settings of a run or a checkpoint."""
    path = Path(folder, "config.json")
    try:
        return dict(json.loads(path.read_text())["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} can't be read: {error!r}") from error


def is_trial(path) -> bool:
    """Whether a checkpoint is of a run with --limit-batches."""
    return read_settings(path).get("limit_batches", 0) > 0


def compare_config(accelerator, config, path, fixed) -> None:
    """Print which settings differ from those in `path`. Refuse to change the fixed ones.

    `fixed` maps their names to the values they have if the script lacks them.
    """
    saved, settings = read_settings(path), describe_config(accelerator, config)["settings"]
    for name, absent in fixed.items():
        old, value = saved.get(name, absent), settings.get(name, absent)
        if str(value) != str(old):
            raise SystemExit(
                f"{path} was saved with {name} {old}. A resumed run can't change it to "
                f"{value}: resume with the same value, or start a new run."
            )
    for name, value in settings.items():
        old, default = saved.get(name), getattr(type(config), name, value)
        if name in ("output_dir", "resume"):
            continue
        if str(value) == str(old):
            if value != default:
                log(f"{name} is {value}, as in the checkpoint; the default is {default}")
        elif name not in fixed:
            log(f"{name} is {value}, and was {old} when the checkpoint was saved")
