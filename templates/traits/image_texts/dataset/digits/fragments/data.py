from sklearn.datasets import load_digits

#: slot load_rows
SIZE = 8  # pixels, both ways
NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
WORDINGS = "a handwritten {}", "the digit {} in white on black", "somebody wrote the number {}"


@cache
def load_images() -> Tensor:
    """1797 handwritten digits, white on black, shape (1797, 1, 8, 8)."""
    return torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16


@cache
def load_rows(config) -> list[list[Row]]:
    """Each digit three times, with its name in different wordings, in three splits."""
    names = [NAMES[label] for label in load_digits().target]
    rows = [(image, text.format(name)) for image, name in enumerate(names) for text in WORDINGS]
    return split_by_image(rows, [0.8, 0.1, 0.1])

#: slot read_image
def read_image(image: int, config) -> Tensor:
    """The digit with this number, shape (1, 8, 8)."""
    return load_images()[image]
