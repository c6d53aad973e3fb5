from sklearn.datasets import load_diabetes

#: slot load_table
def load_table(config) -> tuple[Tensor, Tensor]:
    """442 patients: 10 measurements, shape (442, 10), and their diabetes a year later, (442,)."""
    rows, targets = load_diabetes(return_X_y=True, scaled=False)
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(targets, dtype=torch.float32)
