from adapters import load_trained

#: slot load_weights
model = load_trained(model, config, weights)
