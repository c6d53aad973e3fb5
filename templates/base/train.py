import json

from schedulefree import AdamWScheduleFree
from torch.optim import SGD, Adafactor, Adam, AdamW

from callbacks import averaged
from data import class_names
from optimizers import Lion, MuonWithAdamW

#: slot optimizer when optimizer=adamw
return AdamW(
    parameters, lr=config.learning_rate, weight_decay=config.weight_decay
    #: slot optimizer_arguments
)

#: slot optimizer when optimizer=sgd
return SGD(
    parameters,
    lr=config.learning_rate,
    momentum=config.momentum,
    weight_decay=config.weight_decay,
    nesterov=config.nesterov
    #: slot optimizer_arguments
)

#: slot optimizer when optimizer=adam
return Adam(
    parameters, lr=config.learning_rate, weight_decay=config.weight_decay
    #: slot optimizer_arguments
)

#: slot optimizer when optimizer=adafactor
return Adafactor(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)

#: slot optimizer when optimizer=lion
return Lion(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)

#: replace parameters when optimizer=muon

#: slot optimizer when optimizer=muon
return MuonWithAdamW(model, config.learning_rate, config.weight_decay)

#: slot optimizer when optimizer=schedule_free
return AdamWScheduleFree(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)

#: slot setup when optimizer=schedule_free
optimizer.train()

#: wrap evaluate when optimizer=schedule_free
with averaged(optimizer):
    ...  #: body

#: wrap test when optimizer=schedule_free
with averaged(optimizer):
    ...  #: body

#: slot optimizer_arguments when optimizer_kernels=fused
, fused=True

#: slot start_of_training with saved_classes
if accelerator.is_main_process:  # a label is an index into this list
    #: slot folder
    (config.output_dir / "classes.json").write_text(json.dumps(class_names(config)))

#: slot back_to_training when loop=complete
model.train()
