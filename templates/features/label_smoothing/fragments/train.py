#: slot loss_arguments
, label_smoothing=config.label_smoothing
