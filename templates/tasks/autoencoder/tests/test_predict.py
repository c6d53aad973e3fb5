#: slot functions
def predict_images(config, model, images) -> list[dict]:
    #: region read
    with mock.patch.object(predict, "read_image", lambda image: 255 * image):
        #: end read
        return predict.predict(config, model, images)

#: slot metric
#: region images
images = [image for batch in read_batches(config) for image in batch[0]]
#: end images
errors = [row["error"] for row in predict_images(config, model, images)]
assert sum(errors) / len(errors) == pytest.approx(reported["test_loss"], rel=1e-6)

#: slot five
#: region five_images
rows = predict_images(config, model, list(read_batches(config)[0][0][:5]))
#: end five_images

#: replace read when dataset=image_folder
with mock.patch.object(predict, "ImageFiles", lambda images, size: images):

#: replace images when dataset=image_folder
images = [image for batch in read_batches(config) for image in batch]

#: replace five_images when dataset=image_folder
rows = predict_images(config, model, list(read_batches(config)[0][:5]))
