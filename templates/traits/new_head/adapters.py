#: slot layers
parts = {name: list(part.parameters()) for name, part in inner.named_children()}
new = [name for name in parts if name != prefix and parts[name]]
if any(name.startswith("pooler.") for name, _ in inner.base_model.named_parameters()):
    new.append(f"{start}pooler")  # between them, and not in all checkpoints

#: slot settings
modules_to_save=new,
task_type={{ task.adapter | python }},
