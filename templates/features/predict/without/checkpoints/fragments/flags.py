#: slot parameters
, saved=None

#: slot defaults
if saved:  # the settings of a run are the defaults
    names = {field.name for field in fields(config_class)}
    parser.set_defaults(**{name: value for name, value in saved.items() if name in names})
