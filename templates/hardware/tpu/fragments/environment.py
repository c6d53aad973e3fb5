#: replace world_size
# nothing in the environment says how many TPU cores were started
world_size = int(os.environ.get("WORLD_SIZE", accelerator.num_processes))

#: slot functions
def name_datasets(*loaders) -> None:
    """Give the loaders of a TPU the dataset that save_state() asks them for."""
    for loader in loaders:
        if not hasattr(loader, "dataset"):
            loader.dataset = loader.dataloader.dataset
