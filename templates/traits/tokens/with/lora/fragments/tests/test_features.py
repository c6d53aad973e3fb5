#: slot started
model = adapters.add_adapters(build_exact_model(config), config)
adapters.load_adapters(model, start)
parameters = [item for item in model.named_parameters() if item[1].requires_grad]
