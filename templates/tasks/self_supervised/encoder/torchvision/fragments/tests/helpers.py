#: slot settings
"backbone": "shufflenet_v2_x0_5",  # a small model
