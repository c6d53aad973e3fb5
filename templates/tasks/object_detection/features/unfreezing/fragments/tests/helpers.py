#: slot settings
"unfreezing_epochs": 1,

#: replace sgd
# the steepest places of this loss need smaller steps
groups = [{"params": list(model.parameters()), "depth": 0}]
return optim.SGD(groups, config.learning_rate / 3)
