import math

#: replace steps
steps = config.epochs * math.ceil(batches / config.gradient_accumulation_steps)
