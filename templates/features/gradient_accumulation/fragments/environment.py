import math

#: replace updates
window = config.gradient_accumulation_steps  # the last one of an epoch can be shorter
updates = config.epochs * math.ceil(batches / window)

#: replace batch
window = config.gradient_accumulation_steps
batch = f"{accelerator.num_processes} x {config.batch_size} x {window} accumulated"
samples = accelerator.num_processes * config.batch_size * window
