from data import ImageFiles

#: replace drawn
images = torch.stack(list(ImageFiles(paths, config.image_size)))
