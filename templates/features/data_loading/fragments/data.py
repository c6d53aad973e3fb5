import torch

#: slot datasets
def loading_settings(dataset, config) -> dict[str, bool | int | None]:
    """How the loader of these data hands over its batches."""
    workers = config.num_workers > 0
    if workers and config.data_loading_persistent_workers and hasattr(dataset, "set_epoch"):
        raise SystemExit(
            "Data workers that stay do not see the epoch, which the training data follow: turn "
            "them off with --no-data-loading-persistent-workers."
        )
    return {
        "pin_memory": config.data_loading_pin_memory and torch.accelerator.is_available(),
        "prefetch_factor": config.data_loading_prefetch_factor if workers else None,
        "persistent_workers": config.data_loading_persistent_workers and workers,
    }

#: slot train_batches
**loading_settings(train_set, config),

#: slot eval_settings
# their own generator: an evaluation draws from it as it starts, and must not move the dropout's
settings |= {"generator": torch.Generator(), **loading_settings(val_set, config)}
