from data import ImageFiles, UnreadableImage

#: slot before_batches
settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}

#: replace images
for images in DataLoader(ImageFiles(share, config.image_size), **settings):
    images = images.to(device)

#: wrap batches
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None
