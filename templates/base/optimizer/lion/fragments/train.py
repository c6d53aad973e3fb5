from optimizers import Lion

#: slot optimizer
return Lion(parameters, config.learning_rate, weight_decay=config.weight_decay)
