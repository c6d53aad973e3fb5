#: slot layers
parts = {name: list(part.parameters()) for name, part in inner.named_children()}

#: slot settings
modules_to_save=[name for name in parts if name != prefix and parts[name]],
task_type={{ task.adapter | python }},
