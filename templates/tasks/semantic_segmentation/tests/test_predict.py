import torch
from PIL import Image

from metrics import count_pixels, segmentation_scores

#: slot functions
def predict_images(config, model, images) -> list[dict]:
    def to_picture(image):
        return Image.fromarray((255 * image).round().byte().permute(1, 2, 0).numpy())

    with mock.patch.object(predict, "read_image", to_picture):
        return predict.predict(config, model, images)

#: slot metric
images, masks = (torch.cat(parts) for parts in zip(*read_batches(config), strict=True))
rows = predict_images(config, model, list(images))
predictions = torch.stack([row["mask"] for row in rows])
classes = sum(name.startswith("class_") for name in rows[0])
scores = segmentation_scores(count_pixels(predictions, masks, classes).sum(dim=0))
assert scores["mean_iou"] == pytest.approx(reported["test_mean_iou"], rel=1e-6)

#: slot five
images = list(read_batches(config)[0][0])
rows = predict_images(config, model, (5 * images)[:5])  # there may be fewer
rows = [{**row, "mask": str(row["mask"].tolist())} for row in rows]
