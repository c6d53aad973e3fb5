#: replace row
Row = tuple[tuple[str, ...], tuple[str, ...]]  # a text or a pair of texts, and names of labels

#: replace class_names
def class_names(config) -> list[str]:
    """The names of the labels, in the order of the model's outputs."""
    names = {name for part in load_texts(config) for _, names in part for name in names}
    if not names:
        raise SystemExit("No text has a label: set --labels-column.")
    return sorted(names)


#: replace build_datasets
def build_datasets(config) -> list[list[tuple[tuple[str, ...], list[float]]]]:
    """Training, validation and test data: the text of each sample, or a pair, and its labels.

    A label is 1 if the sample has it, otherwise 0.
    """
    names = class_names(config)
    return [
        [(texts, [float(name in found) for name in names]) for texts, found in part]
        for part in load_texts(config)
    ]


