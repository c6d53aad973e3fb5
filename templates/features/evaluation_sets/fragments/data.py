from torch.utils.data import DataLoader, Subset

#: slot datasets
def build_more_loaders(config, val_loader: DataLoader) -> dict[str, DataLoader]:
    """Further sets to evaluate, by the name that their metrics begin with: yours to change.

    "fit" is the beginning of the training data, of the size of the validation data: how much worse
    the model is on the validation data is its overfitting.
    """
    train_set = build_datasets(config)[0]
    size = min(len(train_set), len(val_loader.dataset))
    settings = {
        "collate_fn": val_loader.collate_fn,
        "num_workers": val_loader.num_workers,
        "worker_init_fn": val_loader.worker_init_fn,
    }
    sets = {"fit": Subset(train_set, range(size))}
    return {
        name: DataLoader(part, val_loader.batch_size, **settings) for name, part in sets.items()
    }
