#: slot exact_model when labels=number
if isinstance(module, nn.GroupNorm):
    # small features: with large ones, SGD would overshoot a squared error
    nn.init.constant_(module.weight, 0.03)

#: slot settings when model=timm
"backbone": "test_resnet",  # a small model

#: slot settings when model=torchvision
"backbone": "regnet_x_400mf",  # small; with new weights, its features of two images differ
