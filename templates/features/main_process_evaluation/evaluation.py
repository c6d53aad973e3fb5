#: file
"""Evaluation on the main process only; the other processes wait for its result."""

from collections.abc import Callable
from functools import wraps

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list, send_to_device
from torch.utils.data import DataLoader


class OneProcess:
    """An accelerator for one process: it gathers and reduces nothing."""

    num_processes, process_index = 1, 0

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator

    def __getattr__(self, name: str):
        return getattr(self.accelerator, name)

    def gather(self, values):
        return values

    def gather_for_metrics(self, values, use_gather_object: bool = False):
        return values

    def reduce(self, values, reduction: str = "mean"):
        return values


class WholeLoader:
    """The batches of all processes, on the device of this one."""

    def __init__(self, loader: DataLoader, accelerator: Accelerator) -> None:
        self.dataset, self.device = loader.dataset, accelerator.device
        self.loader = DataLoader(
            loader.dataset,
            loader.batch_sampler.batch_size,
            collate_fn=loader.collate_fn,
            num_workers=loader.num_workers,
            worker_init_fn=loader.worker_init_fn,
            generator=torch.Generator(),  # evaluation must not advance dropout's RNG
        )

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self):
        return (send_to_device(batch, self.device) for batch in self.loader)


def on_main_process(evaluate: Callable[..., dict[str, float]]) -> Callable[..., dict[str, float]]:
    """Evaluate on the main process only. All processes call it, and get the same result."""

    @wraps(evaluate)
    def evaluate_alone(accelerator, model, loader, *args, **kwargs) -> dict[str, float]:
        result = [None]
        if accelerator.is_main_process:
            # unwrapped, because DistributedDataParallel would wait for the other processes
            model, batches = accelerator.unwrap_model(model), WholeLoader(loader, accelerator)
            result = [evaluate(OneProcess(accelerator), model, batches, *args, **kwargs)]
        return broadcast_object_list(result)[0]

    return evaluate_alone
