from callbacks import averaged
from schedulefree import AdamWScheduleFree

#: slot optimizer
return AdamWScheduleFree(parameters, config.learning_rate, weight_decay=config.weight_decay)

#: slot setup
optimizer.train()

#: wrap evaluate
with averaged(optimizer):
    ...  #: body

#: wrap test
with averaged(optimizer):
    ...  #: body
