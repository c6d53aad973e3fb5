#: slot frozen
model.log_scale.requires_grad_(False)  # PEFT saves adapters alone, and no temperature
