#: replace row
Row = tuple[tuple[str, ...], float]  # a text or a pair of texts, and a number

#: replace class_names
def fit_scale(config) -> tuple[float, float]:
    """The mean and the standard deviation of the numbers of the training data."""
    numbers = torch.tensor([number for _, number in load_texts(config)[0]]).double()
    std, mean = torch.std_mean(numbers)
    return float(mean), float(std) if std > 0 else 1.0  # 1 if all are equal


#: replace build_datasets
def build_datasets(config) -> list[list[tuple[tuple[str, ...], float]]]:
    """Training, validation and test data: the text of each sample, or a pair, and its number."""
    return load_texts(config)


