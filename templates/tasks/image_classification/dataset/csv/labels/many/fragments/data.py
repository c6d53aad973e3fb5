#: replace row
Row = tuple[Path, tuple[str, ...]]  # an image, and the names of its labels

#: replace class_names
def class_names(config) -> list[str]:
    """The names of the labels, in the order of the model's outputs."""
    names = {name for part in load_rows(config) for _, names in part for name in names}
    if not names:
        raise SystemExit("No image has a label: set --labels-column.")
    return sorted(names)


#: replace build_datasets
def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    names = class_names(config)
    parts = [
        [(path, torch.tensor([float(name in found) for name in names])) for path, found in part]
        for part in load_rows(config)
    ]
    return [Images(part, config) for part in parts]



#: replace read_target
cell = line[config.labels_column]
labels = split_labels(cell)
if labels is None:
    raise SystemExit(
        f"{table}, row {number}: its {config.labels_column} are {cell!r}, not names "
        "separated by commas."
    )
rows.append((path, labels))
