#: slot accelerator
mixed_precision=config.mixed_precision,

#: slot before_count
if accelerator.optimizer_step_was_skipped:  # its gradients overflowed in fp16
    continue
