#: slot frozen with image_texts
model.log_scale.requires_grad_(False)  # PEFT only saves adapters, not the temperature
