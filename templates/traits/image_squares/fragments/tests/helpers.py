#: slot settings
"image_size": 16,
