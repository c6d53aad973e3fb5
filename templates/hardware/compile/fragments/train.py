#: slot accelerator
dynamo_backend="no",  # compiled below, in place: the weights keep their names
