from resizing import resize

#: slot forward
images = resize(images, epoch, config)
