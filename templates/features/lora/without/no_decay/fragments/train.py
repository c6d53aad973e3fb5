#: replace parameters
parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
