from checkpoint import find_resumed
from environment import read_settings

#: slot parameters
, saved=None

#: slot flags
if field.name == "resume":
    options |= {"nargs": "?", "const": "newest", "metavar": "PATH"}

#: slot defaults
if saved is None and (path := find_resumed(parser.parse_args(arguments))):
    saved = {**read_settings(path), "output_dir": path.parent}
if saved:  # the settings of a run are the defaults
    names = {field.name for field in fields(config_class)} - {"resume"}
    parser.set_defaults(**{name: value for name, value in saved.items() if name in names})
