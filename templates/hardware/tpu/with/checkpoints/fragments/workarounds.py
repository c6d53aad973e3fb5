from collections.abc import Iterable, Iterator

import torch
from progress import Progress

#: slot functions
def name_datasets(*loaders) -> None:
    """Accelerate 1.15: the prepared loaders of a TPU lack their dataset.

    save_state() asks for it, and fails. Delete this when MpDeviceLoaderWrapper has `dataset`.
    """
    for loader in loaders:
        if not hasattr(loader, "dataset"):
            loader.dataset = loader.dataloader.dataset


def seed_batches(batches: Iterable, progress: Progress) -> Iterator:
    """torch_xla 2.9: each graph that runs moves the state of the random numbers.

    Evaluations and checkpoints run graphs too, so a resumed run would have another dropout. Here it
    depends on the seed, the process and the batch. Delete this when the state moves only with what
    is drawn.
    """
    from torch_xla.core import xla_model  # installed only with a TPU

    for number, batch in enumerate(batches, progress.batch):
        # the first number has the seed and the process in it
        drawn = torch.initial_seed(), progress.epoch, number
        xla_model.set_rng_state(hash(drawn) % 2**31)
        yield batch
