#: slot parameters
, saved=None

#: slot defaults
if saved:  # the settings of a run, instead of the defaults
    names = {field.name for field in fields(config_class)} - {"output_dir"}
    parser.set_defaults(**{name: value for name, value in saved.items() if name in names})
