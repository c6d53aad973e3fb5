from progress import log

#: slot config_functions
def compare_config(accelerator, config, path, fixed) -> None:
    """Print which settings differ from those in `path`. Refuse to change the fixed ones."""
    then = json.loads(path.read_text())["settings"]
    for name, value in describe_config(accelerator, config)["settings"].items():
        if value == then.get(name) or name in ("output_dir", "resume"):
            continue
        if name in fixed:
            raise SystemExit(
                f"{path.parent} was saved with {name} {then.get(name)}. With {value} the batches "
                "would differ: resume with the same value, or start a new run."
            )
        log(f"{name} is {value}, and was {then.get(name)} when the checkpoint was saved")
