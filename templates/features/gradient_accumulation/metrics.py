#: slot full_windows
batches -= batches % config.gradient_accumulation_steps  # drop the rest of the last window

#: replace steps
steps = config.epochs * batches // config.gradient_accumulation_steps

#: replace message
raise SystemExit("Each process needs enough full batches for one step: use smaller batches.")
