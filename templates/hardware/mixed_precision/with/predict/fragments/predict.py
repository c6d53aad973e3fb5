#: wrap forward
with torch.autocast(device.type, {"bf16": torch.bfloat16, "fp16": torch.float16}.get(config.mixed_precision), enabled=config.mixed_precision in ("bf16", "fp16")):
    ...  #: body
