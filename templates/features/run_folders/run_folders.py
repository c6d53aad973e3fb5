#: file
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
#: end file

from glob import escape, glob

#: replace choose_folder with checkpoints
def choose_folder(accelerator, output_dir: Path, resumed: Path | None) -> Path:
    """The output folder of a run, the same on all processes. A resumed run keeps its folder."""
    if not has_time(output_dir):
        return output_dir
    if resumed and any(map(resumed.samefile, find_in_runs(output_dir, resumed.name))):
        return resumed.parent
    folder = make_folder(output_dir) if accelerator.is_main_process else None
    return broadcast_object_list([folder])[0]

#: slot functions with checkpoints
def find_in_runs(output_dir: Path, name: str) -> list[Path]:
    """The files with this name in the folders of all runs. The name may contain wildcards."""
    has_time(output_dir)  # refuses a wrong name
    folders = escape(str(output_dir)).replace("{time}", "????-??-??_??-??-??")
    return [Path(path) for path in glob(f"{folders}/{name}")]

#: slot functions with predict
def newest_run(output_dir: Path) -> Path:
    """The folder itself, or with {time} the newest folder of a finished run."""
    if not has_time(output_dir):
        return output_dir
    found = find_in_runs(output_dir, "model.safetensors")
    if not found:
        raise SystemExit(f"No run in {output_dir} is finished: train first.")
    return max(found).parent

#: slot functions with predict without checkpoints
def find_in_runs(output_dir: Path, name: str) -> list[Path]:
    """The files with this name in the folders of all runs. The name may contain wildcards."""
    has_time(output_dir)  # refuses a wrong name
    folders = escape(str(output_dir)).replace("{time}", "????-??-??_??-??-??")
    return [Path(path) for path in glob(f"{folders}/{name}")]
