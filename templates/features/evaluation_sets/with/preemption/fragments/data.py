#: slot more_loader_settings
"worker_init_fn": val_loader.worker_init_fn,
