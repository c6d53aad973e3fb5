from layers import checkpoint_layers

#: slot after_model
checkpoint_layers(model)
