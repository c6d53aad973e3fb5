#: slot parameters without checkpoints
, saved=None

#: slot defaults without checkpoints
if saved:  # saved values are the defaults, except choices that no longer exist
    for field in fields(config_class):
        value, choices = saved.get(field.name), get_args(field.type)
        if field.name in saved and (not choices or value in choices):
            parser.set_defaults(**{field.name: value})
