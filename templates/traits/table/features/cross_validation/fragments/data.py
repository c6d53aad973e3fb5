import torch
from torch.utils.data import Subset, TensorDataset

#: slot load_table
def take_fold(train_set: Subset, val_set: Subset, config) -> list[Subset]:
    """Training and validation data divided anew: one fold of both together is held out."""
    folds, fold = config.cross_validation_folds, config.cross_validation_fold
    if not fold < folds:
        raise SystemExit(f"--cross-validation-fold {fold}: {folds} folds are counted from 0.")
    both = TensorDataset(*map(torch.cat, zip(train_set[:], val_set[:], strict=True)))
    # a seed of its own: with another --seed the folds stay the same
    order = torch.randperm(len(both), generator=torch.Generator().manual_seed(0)).tolist()
    rest = [index for place, index in enumerate(order) if place % folds != fold]
    return [Subset(both, rest), Subset(both, order[fold::folds])]

#: slot after_split
parts[:2] = take_fold(parts[0], parts[1], config)  # here, as build_model takes statistics too
