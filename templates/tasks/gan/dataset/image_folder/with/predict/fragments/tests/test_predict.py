#: replace images
images = batch
