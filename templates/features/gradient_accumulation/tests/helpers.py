#: replace settings_batches
"limit_batches": 11,  # windows of 2 batches; the last has 1
"gradient_accumulation_steps": 2,
