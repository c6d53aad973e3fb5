from progress import log

#: slot datasets
def check_classes(config) -> None:
    """Say which labels the training data lack."""
    trained = {name for _, names in load_texts(config)[0] for name in names}
    if missing := [name for name in class_names(config) if name not in trained]:
        log(f"No text of the training data has the label {', '.join(missing)}")
