from progress import log

#: slot datasets
def check_classes(config) -> None:
    """Stop if there is one class alone, and say which classes the training data lack."""
    names, trained = class_names(config), {name for _, name in load_texts(config)[0]}
    if len(names) == 1:
        raise SystemExit(f"All texts have the class {names[0]}: a classifier needs two or more.")
    if missing := [name for name in names if name not in trained]:
        log(f"No text of the training data has the class {', '.join(missing)}")
