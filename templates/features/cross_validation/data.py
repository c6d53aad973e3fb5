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
