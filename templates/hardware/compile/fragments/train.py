#: slot accelerator
dynamo_backend="no",  # compiled below in place, so the weights keep their names
