from torch.optim import SGD

#: slot optimizer
return SGD(
    parameters,
    config.learning_rate,
    momentum=config.momentum,
    weight_decay=config.weight_decay,
    nesterov=config.nesterov
    #: slot optimizer_arguments
)
