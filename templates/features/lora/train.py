from adapters import add_adapters, save_adapters

#: slot after_model
model = add_adapters(model, config)

#: slot after_save
save_adapters(accelerator, model, config)

#: replace parameters without no_decay
parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
