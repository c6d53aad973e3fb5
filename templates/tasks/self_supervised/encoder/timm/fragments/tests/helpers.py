#: slot settings
"backbone": "test_resnet",  # a small model
