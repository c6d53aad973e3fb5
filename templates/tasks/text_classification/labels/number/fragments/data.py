#: replace row
Row = tuple[tuple[str, ...], float]  # a text or a pair of texts, and a number

#: replace class_names
def fit_scale(config) -> tuple[float, float]:
    """The mean and the standard deviation of the numbers of the training data."""
    numbers = torch.tensor([number for _, number in load_texts(config)[0]], dtype=torch.float64)
    std, mean = torch.std_mean(numbers)
    error = (numbers - numbers.float()).abs().max()
    if std > 0 and not error < 0.01 * std:
        raise SystemExit(
            f"There are numbers that 32 bits can't tell apart, such as {numbers[0]:.10g}: "
            "subtract a constant."
        )
    return float(mean), float(std) if std > 0 else 1.0  # 1 if all are equal


#: replace build_datasets
def build_datasets(config) -> list[list[tuple[tuple[str, ...], float]]]:
    """Training, validation and test data: the text of each sample, or a pair, and its number."""
    return load_texts(config)


