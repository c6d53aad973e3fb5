from data import ImageFiles

#: slot before_batches
settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}

#: replace images
for images in DataLoader(ImageFiles(share, config.image_size), **settings):
    images = images.to(device)

#: wrap batches
try:
    ...  #: body
except OSError as error:  # only the last line: data workers put a traceback above it
    raise SystemExit(str(error).splitlines()[-1]) from error
