from torch.optim import AdamW

#: slot optimizer
return AdamW(
    parameters, config.learning_rate, weight_decay=config.weight_decay
    #: slot optimizer_arguments
)
