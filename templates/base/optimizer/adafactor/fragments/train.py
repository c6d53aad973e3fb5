from torch.optim import Adafactor

#: slot optimizer
return Adafactor(parameters, config.learning_rate, weight_decay=config.weight_decay)
