#: slot after_model
#: region shared_layers
#: end shared_layers
