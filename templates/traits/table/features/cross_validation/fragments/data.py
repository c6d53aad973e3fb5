import torch
from torch.utils.data import Subset, TensorDataset

#: slot load_table
def take_fold(train_set, val_set, config) -> list[Subset]:
    """Split training and validation data again: one fold of both is the validation data."""
    folds, fold = config.cross_validation_folds, config.cross_validation_fold
    if not fold < folds:
        raise SystemExit(f"--cross-validation-fold {fold}: the last fold is {folds - 1}.")
    both = TensorDataset(*map(torch.cat, zip(train_set[:], val_set[:], strict=True)))
    # a seed of its own: the folds are the same for any --seed
    order = torch.randperm(len(both), generator=torch.Generator().manual_seed(0)).tolist()
    rest = [index for place, index in enumerate(order) if place % folds != fold]
    return [Subset(both, rest), Subset(both, order[fold::folds])]

#: slot after_split
parts[:2] = take_fold(parts[0], parts[1], config)  # build_model also uses this data
