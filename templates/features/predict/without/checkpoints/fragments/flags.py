#: slot parameters
, saved=None

#: slot defaults
if saved:  # the settings of a run are the defaults, unless a choice is gone
    for field in fields(config_class):
        value, choices = saved.get(field.name), get_args(field.type)
        if field.name in saved and (not choices or value in choices):
            parser.set_defaults(**{field.name: value})
