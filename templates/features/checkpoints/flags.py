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
if saved:  # saved values are the defaults, except choices that no longer exist
    for field in fields(config_class):
        value, choices = saved.get(field.name), get_args(field.type)
        if field.name != "resume" and field.name in saved and (not choices or value in choices):
            parser.set_defaults(**{field.name: value})
