#: slot check_settings when model=cnn
for name in ("sample_rate", "mels"):  # the teacher gets the spectrograms of this run
    if getattr(saved, name) != getattr(config, name):
        raise SystemExit(
            f"The teacher {folder} has {name} {getattr(saved, name)}, and this run "
            f"{getattr(config, name)}: use the same."
        )
