import torch
from torch.utils.data import ConcatDataset, Dataset, Subset

#: slot datasets
def take_fold(train_set, val_set, config) -> tuple[Dataset, Dataset]:
    """Divide training and validation data into folds, and hold one of them out.

    Windows of a text are in the same fold.
    """
    folds, fold = config.cross_validation_folds, config.cross_validation_fold
    if not fold < folds:
        raise SystemExit(f"--cross-validation-fold {fold}: {folds} folds are counted from 0.")
    both = ConcatDataset([train_set, val_set])
    contexts = {context: place for place, context in enumerate(dict.fromkeys(map(text_of, both)))}
    if len(contexts) < folds:
        raise SystemExit(f"--cross-validation-folds {folds}: there are {len(contexts)} texts.")
    # a fixed seed: the folds are the same for any --seed
    order = torch.randperm(len(contexts), generator=torch.Generator().manual_seed(0)).tolist()
    held = [order[contexts[text_of(window)]] % folds == fold for window in both]
    rest, fold = ([row for row, one in enumerate(held) if one == out] for out in (False, True))
    return Subset(both, rest), Subset(both, fold)


def text_of(window: Window) -> str:
    return window.question.context

#: slot after_datasets
train_set, val_set = take_fold(train_set, val_set, config)
