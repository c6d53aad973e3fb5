#: slot full_windows
batches -= batches % config.gradient_accumulation_steps  # drop the rest of the last window

#: replace steps
steps = config.epochs * batches // config.gradient_accumulation_steps

#: replace message
needed = config.gradient_accumulation_steps
raise SystemExit(
    f"Each process needs {needed} full batches for one step: use a smaller --batch-size or "
    "fewer --gradient-accumulation-steps, and check --limit-batches."
)
