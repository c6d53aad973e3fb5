from collections.abc import Iterable, Iterator

import torch
from accelerate import DistributedType

#: replace save_state
# not as safetensors, which can't load weights into the memory of a TPU
self.accelerator.save_state(scratch, safe_serialization=False)

#: slot counted_batches
if accelerator.distributed_type == DistributedType.XLA:
    batches = draw_by_batch(batches, progress)

#: slot functions
def draw_by_batch(batches: Iterable, progress: Progress) -> Iterator:
    """The batches, from each of which follows what a TPU draws for it, such as dropout.

    The state of its generator moves with every graph that runs, also those of a checkpoint or an
    evaluation: without this it would be another one after a resume.
    """
    from torch_xla.core import xla_model  # only a machine with a TPU has it

    for number, batch in enumerate(batches, progress.batch):
        # the first number has the seed and the process in it
        drawn = torch.initial_seed(), progress.epoch, number
        xla_model.set_rng_state(hash(drawn) % 2**31)
        yield batch
