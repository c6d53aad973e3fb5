from torch.optim import Adam

#: slot optimizer
return Adam(
    parameters, config.learning_rate, weight_decay=config.weight_decay
    #: slot optimizer_arguments
)
