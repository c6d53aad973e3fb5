#: replace batch
batch = f"batch {processes} x {config.batch_size} x {config.gradient_accumulation_steps}"

#: replace accumulation without tokens
