import sys
from checkpoint import find_resumed
from environment import read_settings

#: slot functions
def saved_flags(config_class, folder) -> list[str]:
    """The settings of a run or a checkpoint as flags, without the folder and --resume."""
    saved, flags = read_settings(folder), []
    for field in fields(config_class):
        if field.name in saved and field.name not in ("output_dir", "resume"):
            flag, value = field.name.replace("_", "-"), saved[field.name]
            if field.type is bool:
                flags.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                flags.append(f"--{flag}={value}")
    return flags

#: slot flags
if field.name == "resume":
    settings |= {"nargs": "?", "const": "newest", "metavar": "PATH"}

#: slot parsed
if path := find_resumed(config_class(**values)):
    parser.prog += f" with the settings of {path}"
    values = vars(parser.parse_args([*saved_flags(config_class, path), *(arguments or sys.argv[1:])]))
