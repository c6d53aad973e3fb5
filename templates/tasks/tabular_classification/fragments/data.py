#: slot file_targets
labels = target.astype("category").cat.codes  # numbers in sorted order
if labels.nunique() == 1:
    raise SystemExit(f"{path}: all rows have the same {config.target}, so there is nothing to learn.")
return torch.tensor(rows), torch.tensor(labels.to_numpy("int64"))
