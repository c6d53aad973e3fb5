#: slot settings when dataset=images|hub_images
"image_size": 16,

#: slot settings when dataset=images|hub_images without data_loading
"num_workers": 0,  # starting workers takes longer than a test
