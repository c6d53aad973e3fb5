#: replace settings_batches
"limit_batches": 13,  # 6 windows of 2 batches; the last batch is left out
"gradient_accumulation_steps": 2,
