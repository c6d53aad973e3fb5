import torch
from torch.utils.data import DataLoader, Subset

#: slot datasets
def build_more_loaders(config, val_loader) -> dict[str, DataLoader]:
    """More sets to evaluate, by the prefix of their metrics. Add your own here.

    "fit" has as many samples as the validation data, but from the training data. The difference
    between both results is the overfitting.
    """
    #: region train_set
    train_set = build_datasets(config)[0]
    #: end train_set
    size = min(len(train_set), len(val_loader.dataset))
    settings = {
        "collate_fn": val_loader.collate_fn,
        "num_workers": val_loader.num_workers,
        "generator": torch.Generator(),
        #: slot more_loader_settings
    }
    sets = {"fit": Subset(train_set, range(size))}
    return {
        name: DataLoader(part, val_loader.batch_size, **settings) for name, part in sets.items()
    }

#: slot more_loader_settings with preemption
"worker_init_fn": val_loader.worker_init_fn,
