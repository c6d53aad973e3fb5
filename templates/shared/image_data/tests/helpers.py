#: slot settings when project.task=autoencoder|diffusion|gan|self_supervised dataset=image_folder
"image_size": 16,
