#: slot settings
"eval_batch_size": 64,
