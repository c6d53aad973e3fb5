from adapters import add_adapters, save_adapters

#: slot after_model
model = add_adapters(model, config)

#: slot after_save
save_adapters(accelerator, model, config)
