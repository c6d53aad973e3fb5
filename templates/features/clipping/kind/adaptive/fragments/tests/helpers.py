#: slot settings
"max_grad_ratio": 0.0,
