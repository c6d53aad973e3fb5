#: slot settings
"max_grad_value": 0.0,
