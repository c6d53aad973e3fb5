import torch
from torch.utils.data import DataLoader

#: slot build_loaders
def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    #: slot after_datasets
    #: slot before_loaders
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        #: region order
        shuffle=True,
        #: end order
        drop_last=True,
        num_workers=config.num_workers,
        #: slot train_batches
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    settings = {
        #: region eval_batch
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        #: end eval_batch
        "num_workers": config.num_workers,
        #: slot eval_settings
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    #: region eval_loaders
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    #: end eval_loaders
    #: slot after_loaders
    return train_loader, val_loader, test_loader
