#: replace share
# the precision of training
precision = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(config.mixed_precision)
autocast = torch.autocast(device.type, precision, enabled=precision is not None)
with torch.inference_mode(), autocast, PartialState().split_between_processes(inputs) as share:
