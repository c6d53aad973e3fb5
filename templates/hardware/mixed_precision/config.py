#: slot checks
if accelerator.mixed_precision == "fp16" and accelerator.device.type == "cpu":
    raise SystemExit("fp16 has no effect on the CPU: use bf16 or no mixed precision.")
