#: slot settings
"local_sgd_every": 1,  # so 2 processes train like one with twice the batch size
