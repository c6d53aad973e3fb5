#: slot settings
"unfreezing_epochs": 1,

#: replace sgd
groups = [{"params": list(model.parameters()), "depth": 0}]
return optim.SGD(groups, config.learning_rate)
