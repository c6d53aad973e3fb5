#: replace read
with mock.patch.object(predict, "ImageFiles", lambda images, size: images):
