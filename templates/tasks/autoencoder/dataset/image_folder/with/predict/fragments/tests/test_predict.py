#: replace read
with mock.patch.object(predict, "ImageFiles", lambda images, size: images):

#: replace images
images = [image for batch in read_batches(config) for image in batch]

#: replace five_images
rows = predict_images(config, model, list(read_batches(config)[0][:5]))
