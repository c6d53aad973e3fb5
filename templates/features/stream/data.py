from collections.abc import Iterator
from itertools import islice

import torch
from accelerate import PartialState
from accelerate.data_loader import prepare_data_loader
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

#: slot datasets
class TrainStream(IterableDataset):
    """Endless training samples. Replace `keys`, and how a key is read, with your own code.

    The keys depend only on the seed and the epoch, so they are the same on all processes and after
    a resume. The workers of all processes take turns: each reads every n-th key.
    """

    def __init__(self, data: Dataset, seed: int) -> None:
        self.data, self.seed, self.epoch = data, seed, 0
        state = PartialState()
        self.process, self.processes = state.process_index, state.num_processes

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def keys(self) -> Iterator[int]:
        """Endless indices. Your own keys may be file names or rows."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        while True:
            yield from torch.randperm(len(self.data), generator=generator).tolist()

    def __iter__(self) -> Iterator:
        worker, workers = worker_share()
        share, shares = self.process + self.processes * worker, self.processes * workers
        for key in islice(self.keys(), share, None, shares):
            yield self.data[key]


class EvalStream(IterableDataset):
    """Samples for evaluation, each once. Replace how a key is read with your own code.

    The main process reads for all processes, so only its workers take turns.
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data

    def __iter__(self) -> Iterator:
        worker, workers = worker_share()
        for key in range(worker, len(self.data), workers):
            yield self.data[key]


def worker_share() -> tuple[int, int]:
    """The number of this data worker, and how many there are."""
    info = get_worker_info()
    return (info.id, info.num_workers) if info else (0, 1)


def read_by_each(loader: DataLoader) -> DataLoader:
    """Prepare the loader of a stream that each process reads a share of."""
    loader = prepare_data_loader(
        loader,
        PartialState().device,
        num_processes=1,  # the stream is already split
        process_index=0,
        put_on_device=True,
        dispatch_batches=False,
    )
    loader._is_accelerate_prepared = True  # prepare() leaves it as it is
    return loader

#: slot after_datasets
train_set = TrainStream(train_set, config.seed)
val_set, test_set = EvalStream(val_set), EvalStream(test_set)

#: replace order

#: slot after_loaders
train_loader = read_by_each(train_loader)

#: into checkpoint.py
#: slot fixed
"num_workers": "each reads its own part of the stream",

#: into metrics.py
#: replace epoch_batches
batches = min(config.stream_epoch_batches, config.limit_batches or config.stream_epoch_batches)

#: into evaluate.py
#: slot samples
if split != "train":
    data = data.data  # the samples of the stream, each with an index
