#: slot settings when dataset=image_folder
"image_size": 16,
