#: slot file_targets
labels = target.astype("category").cat.codes  # the place of the value among all, sorted
if labels.nunique() == 1:
    raise SystemExit(f"{path}: all rows have the same {config.target}. There is nothing to learn.")
return torch.tensor(rows), torch.tensor(labels.to_numpy("int64"))
