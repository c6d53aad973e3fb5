from accelerate import DistributedType

#: replace world_size
# nothing in the environment says how many TPU cores were started
world_size = int(os.environ.get("WORLD_SIZE", accelerator.num_processes))

#: slot functions
def name_datasets(*loaders) -> None:
    """Give the loaders of a TPU the dataset that save_state() asks them for."""
    for loader in loaders:
        if not hasattr(loader, "dataset"):
            loader.dataset = loader.dataloader.dataset


def draw_by_batch(accelerator: Accelerator, seed: int, progress) -> None:
    """Let what a TPU draws, such as dropout, follow from the batch.

    The state of its generator moves with every graph that runs, also those of a checkpoint or an
    evaluation: it would not be the same after a resume.
    """
    if accelerator.distributed_type == DistributedType.XLA:
        from torch_xla.core import xla_model  # only a machine with a TPU has it

        batch = seed, accelerator.process_index, progress.epoch, progress.batch
        xla_model.set_rng_state(hash(batch) % 2**31)
