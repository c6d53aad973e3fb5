from sklearn.datasets import load_breast_cancer

#: slot load_table
def load_table(config) -> tuple[Tensor, Tensor]:
    """569 tumors: 30 measurements, shape (569, 30), and whether they are benign, (569,)."""
    rows, labels = load_breast_cancer(return_X_y=True)
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(labels)
