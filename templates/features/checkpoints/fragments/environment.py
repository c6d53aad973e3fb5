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


def find_trial(config, checkpoints) -> list[Path]:
    """The files of a trial run, to overwrite. Exits if the folder holds any other run.

    `checkpoints` are the complete ones of the folder.
    """
    folder = config.output_dir
    paths = [folder / "best.safetensors", folder / "model.safetensors"]
    weights = [path for path in paths if path.exists()]
    incomplete = len(list(folder.glob("checkpoint_*"))) > len(checkpoints)
    runs = [*checkpoints, folder] if weights else checkpoints
    if incomplete or not all(map(is_trial, runs)):
        advice = "--resume it, or use" if checkpoints and not config.resume else "use"
        raise SystemExit(f"{folder} holds a run: {advice} another --output-dir.")
    if checkpoints or weights:
        log(f"overwriting the trial run in {folder}, started with --limit-batches")
    return checkpoints + weights


def refuse_changes(accelerator, config, path, fixed) -> None:
    """Exit if one of the `fixed` settings differs from that of the checkpoint in `path`.

    `fixed` maps their names to their values in a script that lacks them.
    """
    saved, settings = read_settings(path), describe_config(accelerator, config)["settings"]
    for name, absent in fixed.items():
        old, value = saved.get(name, absent), settings.get(name, absent)
        if str(value) != str(old):  # config.json holds paths as text
            raise SystemExit(
                f"{path} was saved with {name} {old}. A resumed run can't change it to "
                f"{value}: resume with the same value, or start a new run."
            )


def log_changes(accelerator, config, path, fixed) -> None:
    """Print the settings that differ from those in `path`, or from the default ones."""
    saved = read_settings(path)
    for name, value in describe_config(accelerator, config)["settings"].items():
        old, default = saved.get(name), getattr(type(config), name, value)
        if name in ("output_dir", "resume"):
            continue
        if str(value) == str(old):
            if value != default:
                log(f"{name} is {value}, as in the checkpoint; the default is {default}")
        elif name not in fixed:
            log(f"{name} is {value}, and was {old} when the checkpoint was saved")
