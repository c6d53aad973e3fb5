#: slot accelerator
mixed_precision=config.mixed_precision,

#: replace count
# in fp16, an update whose gradients overflow is skipped, and must not move the schedule
progress.update += not accelerator.optimizer_step_was_skipped
