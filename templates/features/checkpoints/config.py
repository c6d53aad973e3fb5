from argparse import ArgumentParser
from dataclasses import fields, replace
from typing import get_args

#: slot fields
resume: str = ""  # run or checkpoint to resume; without a value: the newest

#: replace parse
parser = ArgumentParser(add_help=False, allow_abbrev=False)
parser.add_argument("--output-dir", "--output_dir", type=Path)
parser.add_argument("--resume", nargs="?", const="newest")
given, flags = parser.parse_known_args(arguments)
default = Config()
#: region before_resume
#: end before_resume
if given.resume:  # a resumed run keeps its settings, unless flags change them
    path = find_resumed(given.resume, given.output_dir)
    default = replace(load_config(path), resume=str(path), output_dir=path.parent)
    if path != find_resumed("newest", path.parent):  # keep the newer ones: use a new folder
        default = replace(default, output_dir=Config.output_dir)
default = replace(default, output_dir=given.output_dir or default.output_dir)
return tyro.cli(Config, description=description, args=flags, default=default)

#: slot config_functions
def find_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run, from the oldest to the newest."""
    return sorted(folder.glob("checkpoint_" + "[0-9]" * 8))


def find_resumed(resume: str, folder: Path | None = None) -> Path:
    """The checkpoint that `--resume` names, or the newest: of a folder, or of all in runs/."""
    path = folder if resume == "newest" else Path(resume)
    if path:
        path = path if path.name else path.absolute()  # `--resume .`
        found = find_checkpoints(path) or [path]
    else:
        runs = Path("runs").glob("*/checkpoint_" + "[0-9]" * 8)
        found = sorted(runs, key=lambda path: path.lstat().st_mtime)
    #: region intact
    if found and (found[-1] / "loop.pt").exists():
        return found[-1]
    #: end intact
    raise SystemExit(f"No complete checkpoint to resume: {found[-1] if found else 'runs'}.")
