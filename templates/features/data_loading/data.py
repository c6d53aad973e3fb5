import torch

#: slot datasets
def loading_settings(dataset, config) -> dict[str, bool | int | None]:
    """DataLoader settings for this dataset."""
    workers = config.num_workers > 0
    if workers and config.data_loading_persistent_workers and hasattr(dataset, "set_epoch"):
        raise SystemExit(
            "The training data change with the epoch, which persistent workers don't see: use "
            "--no-data-loading-persistent-workers."
        )
    return {
        "pin_memory": config.data_loading_pin_memory and torch.accelerator.is_available(),
        "prefetch_factor": config.data_loading_prefetch_factor if workers else None,
        "persistent_workers": config.data_loading_persistent_workers and workers,
    }

#: slot train_batches
**loading_settings(train_set, config),

#: slot eval_settings
**loading_settings(val_set, config),
