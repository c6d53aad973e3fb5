from progress import log

#: slot after_datasets
check_classes(config)

#: slot datasets when labels=one
def check_classes(config) -> None:
    """Stop if there is one class alone, and say which classes the training data lack."""
    names, trained = class_names(config), {name for _, name in load_texts(config)[0]}
    if len(names) == 1:
        raise SystemExit(f"All texts have the class {names[0]}: a classifier needs two or more.")
    if missing := [name for name in names if name not in trained]:
        log(f"No text of the training data has the class {', '.join(missing)}")

#: slot datasets when labels=many
def check_classes(config) -> None:
    """Say which labels the training data lack."""
    trained = {name for _, names in load_texts(config)[0] for name in names}
    if missing := [name for name in class_names(config) if name not in trained]:
        log(f"No text of the training data has the label {', '.join(missing)}")
