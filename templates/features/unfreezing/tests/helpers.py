#: slot settings
#: region unfreezing_settings
"unfreezing_epochs": 1,
#: end unfreezing_settings

#: replace sgd
#: region unfreezing_sgd
groups = [{"params": list(model.parameters()), "depth": 0}]
return optim.SGD(groups, config.learning_rate)
#: end unfreezing_sgd
