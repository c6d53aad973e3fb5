from progress import log

#: slot datasets
def check_types(config) -> None:
    """Stop if there are no entities, and say which of their types the training data lack."""
    types = dict.fromkeys(name[2:] for name in tag_names(config) if name != "O")
    if not types:
        raise SystemExit("All words of the data have the tag O: there is no entity to learn.")
    trained = {tag[2:] for _, tags in load_sentences(config)[0] for tag in tags}
    if missing := [name for name in types if name not in trained]:
        log(f"No entity of the training data has the type {', '.join(missing)}")

#: slot after_datasets
check_types(config)
