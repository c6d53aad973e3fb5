#: slot check_settings when model=cnn
for name in ("sample_rate", "mels"):  # the teacher gets the spectrograms of this run
    if saved.get(name) != getattr(config, name):
        raise SystemExit(
            f"The teacher {folder} has {name} {saved.get(name)}, and this run "
            f"{getattr(config, name)}: use the same."
        )
