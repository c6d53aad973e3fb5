#: slot file_targets
if not is_numeric_dtype(target):
    raise SystemExit(f"{path}: {config.target} does not hold numbers. Set --target to a column that does.")
return torch.tensor(rows), torch.tensor(target.to_numpy("float32"))
