#: replace row
Row = tuple[Path, float]  # an image and its number

#: replace class_names
def read_targets(config) -> Tensor:
    """The numbers of the training data."""
    #: slot moved
    return torch.tensor([number for _, number in load_rows(config)[0]])


#: replace build_datasets
def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    parts = load_rows(config)
    return [
        Images([(path, torch.tensor(number)) for path, number in part], config) for part in parts
    ]


#: replace read_target
cell = line[config.number_column]
target = parse_number(cell)
if target is None:
    raise SystemExit(
        f"{table}, row {number}: its {config.number_column} is {cell!r}, not a number."
    )
rows.append((path, target))
