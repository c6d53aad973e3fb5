#: slot settings when encoder=timm
"backbone": "test_resnet",  # a small model

#: slot settings when encoder=torchvision
"backbone": "regnet_x_400mf",  # small; with new weights, its features of two images differ
