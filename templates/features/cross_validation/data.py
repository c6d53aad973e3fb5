import torch
from torch.utils.data import ConcatDataset, Dataset, Subset

#: slot datasets
#: region cross_validation_datasets
def take_fold(train_set, val_set, config) -> tuple[Dataset, Dataset]:
    """Divide training and validation data into folds, and hold one of them out."""
    folds, fold = config.cross_validation_folds, config.cross_validation_fold
    if not fold < folds:
        raise SystemExit(f"--cross-validation-fold {fold}: {folds} folds are counted from 0.")
    both = ConcatDataset([train_set, val_set])
    if len(both) < folds:
        raise SystemExit(f"--cross-validation-folds {folds}: there are {len(both)} samples.")
    # a fixed seed: the folds are the same for any --seed
    order = torch.randperm(len(both), generator=torch.Generator().manual_seed(0)).tolist()
    rest = [index for place, index in enumerate(order) if place % folds != fold]
    return Subset(both, rest), Subset(both, order[fold::folds])
#: end cross_validation_datasets

#: slot after_datasets
#: region cross_validation_after_datasets
train_set, val_set = take_fold(train_set, val_set, config)
#: end cross_validation_after_datasets

#: slot load_table with cross_validation with table
def take_fold(train_rows: list[int], val_rows: list[int], config) -> list[list[int]]:
    """Split training and validation rows again: one fold of both is the validation data."""
    folds, fold = config.cross_validation_folds, config.cross_validation_fold
    if not fold < folds:
        raise SystemExit(f"--cross-validation-fold {fold}: {folds} folds are counted from 0.")
    both = [*train_rows, *val_rows]
    if len(both) < folds:
        raise SystemExit(f"--cross-validation-folds {folds}: there are {len(both)} rows.")
    # a fixed seed: the folds are the same for any --seed
    order = torch.randperm(len(both), generator=torch.Generator().manual_seed(0)).tolist()
    rest = [both[index] for place, index in enumerate(order) if place % folds != fold]
    return [rest, [both[index] for index in order[fold::folds]]]

#: slot after_split with cross_validation with table
parts[:2] = take_fold(parts[0], parts[1], config)  # build_model also uses this data

#: replace cross_validation_datasets with cross_validation with table

#: replace cross_validation_after_datasets with cross_validation with table
