#: slot settings
"max_grad_norm": 0.0,
