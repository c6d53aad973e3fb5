import torch

#: slot load_table
def take_fold(train_rows: list[int], val_rows: list[int], config) -> list[list[int]]:
    """Split training and validation rows again: one fold of both is the validation data."""
    folds, fold = config.cross_validation_folds, config.cross_validation_fold
    if not fold < folds:
        raise SystemExit(f"--cross-validation-fold {fold}: the last fold is {folds - 1}.")
    both = [*train_rows, *val_rows]
    # a fixed seed: the folds are the same for any --seed
    order = torch.randperm(len(both), generator=torch.Generator().manual_seed(0)).tolist()
    rest = [both[index] for place, index in enumerate(order) if place % folds != fold]
    return [rest, [both[index] for index in order[fold::folds]]]

#: slot after_split
parts[:2] = take_fold(parts[0], parts[1], config)  # build_model also uses this data
