#: replace classes
classes = find_classes(paths)
check_classes(classes, config)

#: slot datasets
def check_classes(classes: list[str], config) -> None:
    """Refuse images of more or fewer classes than the model has."""
    if len(classes) != config.classes:
        named = ", ".join(classes[:8]) + ", ..." * (len(classes) > 8)
        raise SystemExit(
            f"{config.path} has training images in {len(classes)} folders ({named}), one for each "
            f"class, and --classes is {config.classes}."
        )
