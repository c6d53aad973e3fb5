#: replace settings_batches
"limit_batches": 11,  # windows of 2, the last of them with 1 batch
"gradient_accumulation_steps": 2,
