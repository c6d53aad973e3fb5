import sys
from checkpoint import find_resumed
from environment import read_settings

#: slot parameters
, saved=None

#: slot flags
if field.name == "resume":
    options |= {"nargs": "?", "const": "newest", "metavar": "PATH"}

#: slot defaults
if saved:  # the settings of a run are the defaults
    names = {field.name for field in fields(config_class)} - {"resume"}
    parser.set_defaults(**{name: value for name, value in saved.items() if name in names})

#: slot parsed
if saved is None and (path := find_resumed(config_class(**values))):
    # parse again: now the settings of the checkpoint are the defaults, also its folder
    arguments = [*(sys.argv[1:] if arguments is None else arguments), f"--resume={path}"]
    saved = {**read_settings(path), "output_dir": path.parent}
    return parse_flags(config_class, description, arguments, saved)
