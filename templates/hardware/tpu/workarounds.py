from collections.abc import Iterable, Iterator

import torch

from metrics import Progress

#: slot functions with checkpoints
def name_datasets(*loaders) -> None:
    """Accelerate 1.15: the prepared loaders of a TPU lack their dataset.

    save_state() asks for it, and fails. Delete this when MpDeviceLoaderWrapper has `dataset`.
    """
    for loader in loaders:
        if not hasattr(loader, "dataset"):
            loader.dataset = loader.dataloader.dataset


def seed_batches(batches: Iterable, progress: Progress) -> Iterator:
    """torch_xla 2.9: each graph that runs advances the random state.

    Evaluations and checkpoints run graphs too, so dropout would differ after a resume. Here it
    depends on the seed, the process and the batch. Delete this when only random draws
    advance the state.
    """
    from torch_xla.core import xla_model  # installed only with a TPU

    for number, batch in enumerate(batches, progress.batch):
        # initial_seed() already depends on the seed and the process
        drawn = torch.initial_seed(), progress.epoch, number
        xla_model.set_rng_state(hash(drawn) % 2**31)
        yield batch
