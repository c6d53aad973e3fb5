#: replace parameters with no_decay
parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
