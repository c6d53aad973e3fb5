#: slot file_targets
if not is_numeric_dtype(target):
    raise SystemExit(f"{path}: {config.target} is no column of numbers. Set --target to one.")
return torch.tensor(rows), torch.tensor(target.to_numpy("float32"))
