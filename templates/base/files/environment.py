"""What a run really runs on: checked before training, and said in its first line.

torch.distributed.nn is imported here, before Accelerator() starts the process group: functions in
there take the group of that moment as a default argument, and a group that they keep alive can
abort the exit.
"""

import os
import sys
from importlib.util import find_spec

import torch.distributed.nn
from accelerate import Accelerator
from tqdm import tqdm

# Accelerate asks twice an update whether this package is there, and Python looks through all its
# folders for it, which takes a small model a fifth of its time. Here it learns once that it is not.
if find_spec("lomo_optim") is None:
    sys.modules["lomo_optim"] = None


def check_environment(accelerator: Accelerator) -> None:
    """Stop if the processes do not work together, or a setting of the environment has no effect."""
    #: region world_size
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    #: end world_size
    if accelerator.num_processes != world_size:
        raise SystemExit(
            f"{world_size} processes were started, but each of them would train alone: "
            f"Accelerate sees {accelerator.num_processes}. Without a GPU for each process, set "
            "ACCELERATE_USE_CPU=true."
        )
    if accelerator.gradient_accumulation_steps != 1:
        raise SystemExit(
            "ACCELERATE_GRADIENT_ACCUMULATION_STEPS would make every gradient "
            f"{accelerator.gradient_accumulation_steps} times smaller, because this loop does not "
            "use accelerator.accumulate: unset it."
        )
    if accelerator.mixed_precision == "fp16" and accelerator.device.type == "cpu":
        raise SystemExit("fp16 has no effect on the CPU: use bf16 or no mixed precision.")


#: slot functions


def count_updates(loader, config) -> tuple[int, int]:
    """The batches of an epoch on each process, and the updates of the whole run."""
    #: region epoch_batches
    if not len(loader):
        raise SystemExit("The training data does not fill one batch: take a smaller --batch-size.")
    batches = min(len(loader), config.limit_batches or len(loader))
    #: end epoch_batches
    #: region updates
    updates = config.epochs * batches
    #: end updates
    return batches, min(updates, config.max_steps or updates)


def describe(accelerator: Accelerator, model: torch.nn.Module, config, total_updates: int) -> str:
    """The settings in effect, in one line."""
    #: region parameters
    parameters = sum(parameter.numel() for parameter in model.parameters())
    #: end parameters
    #: region batch
    batch = f"{accelerator.num_processes} x {config.batch_size}"
    samples = accelerator.num_processes * config.batch_size
    #: end batch
    #: slot counted_batch
    return (
        #: region processes
        f"{accelerator.num_processes} process(es) on {accelerator.device.type} | "
        #: end processes
        f"precision {accelerator.mixed_precision} | batch {batch} = {samples} | "
        f"{parameters:,} parameters | {total_updates} updates"
    )


def write_line(text: str) -> None:
    """Print a line, above the progress bar if there is one."""
    tqdm.write(text)
    sys.stdout.flush()  # a log file shows it at once
