from resizing import resize

#: slot forward with progressive_resizing
images = resize(images, epoch, config)
