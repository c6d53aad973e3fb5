import os

from accelerate import ParallelismConfig
from accelerate.utils import parse_flag_from_env

#: slot functions
def arrange_processes(**directions) -> ParallelismConfig | None:
    """The device mesh, or None on one process or on the CPU."""
    alone = os.environ.get("WORLD_SIZE", "1") == "1"
    whole = alone or parse_flag_from_env("ACCELERATE_USE_CPU")
    return None if whole else ParallelismConfig(**directions)
