#: file when state_dict_type=SHARDED_STATE_DICT with checkpoints
"""Loads a sharded checkpoint without executing code in it.

PyTorch 2.13 unpickles the list of the parts and each value that is not a tensor, which can run
any code. Delete this when torch.distributed.checkpoint does not.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import Unpickler, UnpicklingError
from types import SimpleNamespace

import torch
from torch.distributed.checkpoint import CheckpointException, filesystem, metadata

CLASSES = [
    metadata.BytesStorageMetadata,
    metadata.ChunkStorageMetadata,
    metadata.Metadata,
    metadata.MetadataIndex,
    metadata.StorageMeta,
    metadata.TensorProperties,
    metadata.TensorStorageMetadata,
    metadata._MEM_FORMAT_ENCODING,
    filesystem._StorageInfo,
    torch.Size,
]
# classes that `.metadata` may contain: they only hold values
ALLOWED = {f"{kind.__module__}.{kind.__name__}": kind for kind in CLASSES}
ALLOWED |= {str(value): value for value in vars(torch).values() if isinstance(value, torch.dtype)}
ALLOWED |= {"torch.serialization._get_layout": {str(torch.strided): torch.strided}.__getitem__}
# Python 3.11.2 stores a member of an enum with getattr
ALLOWED |= {"builtins.getattr": lambda _, name: metadata._MEM_FORMAT_ENCODING[name]}
ALLOWED |= {"pathlib.PosixPath": Path, "pathlib.WindowsPath": Path}
ALLOWED |= {"pathlib._local.PosixPath": Path, "pathlib._local.WindowsPath": Path}


class MetadataUnpickler(Unpickler):
    def find_class(self, module: str, name: str):
        if f"{module}.{name}" not in ALLOWED:
            raise UnpicklingError(f"{module}.{name} is not allowed")
        return ALLOWED[f"{module}.{name}"]


@contextmanager
def only_data() -> Iterator[None]:
    """Load checkpoints without executing code in them."""
    loader, setting = filesystem.pickle, "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
    filesystem.pickle = SimpleNamespace(load=lambda file: MetadataUnpickler(file).load())
    before = os.environ.get(setting, "0")
    os.environ[setting] = "1"  # for each torch.load()
    try:
        yield
    except CheckpointException as error:  # a BaseException with the tracebacks of all processes
        first, _ = next(iter(error.failures.values()))
        raise first if isinstance(first, UnpicklingError) else ValueError(first) from error
    finally:
        filesystem.pickle, os.environ[setting] = loader, before
