"""A folder for each run: {time} in --output-dir stands for the date and time of its start."""

import re
import time
from pathlib import Path

from accelerate.utils import broadcast_object_list


#: region choose_folder
def choose_folder(accelerator, output_dir: Path) -> Path:
    """The output folder of a run, the same on all processes."""
    if not has_time(output_dir):
        return output_dir
    folder = make_folder(output_dir) if accelerator.is_main_process else None
    return broadcast_object_list([folder])[0]


#: end choose_folder
def has_time(output_dir: Path) -> bool:
    """Whether a folder name contains {time}. Refuses other names in braces."""
    names = re.findall(r"\{.*?\}", str(output_dir))
    known = "{time}"
    for name in names:
        if name != known:
            raise SystemExit(f"--output-dir {output_dir}: only {known} is known, not {name}.")
    return bool(names)


def make_folder(output_dir: Path) -> Path:
    """Create a new folder named by the time. If it exists, wait for the next second."""
    while True:
        folder = Path(str(output_dir).replace("{time}", time.strftime("%Y-%m-%d_%H-%M-%S")))
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            time.sleep(0.1)


#: slot functions
