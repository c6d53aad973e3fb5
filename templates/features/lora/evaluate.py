from adapters import load_trained
from model import build_model

#: slot load_weights
model = load_trained(build_model(config), config, weights).eval()
