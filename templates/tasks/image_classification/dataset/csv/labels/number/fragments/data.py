#: replace row
Row = tuple[Path, float]  # an image and its number

#: replace class_names
def read_targets(config) -> Tensor:
    """The numbers of the training data."""
    #: slot moved
    exact = torch.tensor([number for _, number in load_rows(config)[0]], dtype=torch.float64)
    error, std = (exact - exact.float()).abs().max(), exact.std()
    if std > 0 and not error < 0.01 * std:
        raise SystemExit(
            f"{config.number_column} has numbers that 32 bits can't tell apart, such as "
            f"{exact[0]:.10g}: subtract a constant."
        )
    return exact.float()


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
