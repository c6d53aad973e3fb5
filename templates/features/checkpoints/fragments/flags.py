import sys
from checkpoint import find_resumed
from environment import read_settings

#: slot parameters
, saved=None

#: slot flags
if field.name == "resume":
    options |= {"nargs": "?", "const": "newest", "metavar": "PATH"}

#: slot defaults
if saved:  # the settings of a run, instead of the defaults
    names = {field.name for field in fields(config_class)} - {"output_dir", "resume"}
    parser.set_defaults(**{name: value for name, value in saved.items() if name in names})

#: slot parsed
if saved is None and (path := find_resumed(config_class(**values))):
    arguments = [*(sys.argv[1:] if arguments is None else arguments), f"--resume={path}"]
    return parse_flags(config_class, description, arguments, read_settings(path))
