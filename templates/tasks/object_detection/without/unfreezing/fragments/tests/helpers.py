#: replace sgd
# the steepest places of this loss need smaller steps
return optim.SGD(model.parameters(), config.learning_rate / 3)
