#: slot exact_model
if isinstance(module, nn.GroupNorm):
    # small features: with large ones, SGD would overshoot a squared error
    nn.init.constant_(module.weight, 0.03)
