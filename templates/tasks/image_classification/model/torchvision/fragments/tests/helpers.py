#: slot settings
"backbone": "regnet_x_400mf",  # small; with new weights, its features of two images differ
