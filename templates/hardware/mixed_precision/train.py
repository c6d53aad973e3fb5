#: slot accelerator
mixed_precision=config.mixed_precision,

#: replace count
if accelerator.optimizer_step_was_skipped:  # its gradients overflowed in fp16
    continue
progress.step += 1
