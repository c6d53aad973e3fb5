#: slot settings when kind=norm
"max_grad_norm": 0.0,

#: slot settings when kind=value
"max_grad_value": 0.0,

#: slot settings when kind=adaptive
"max_grad_ratio": 0.0,
