import torch
from PIL import Image
from pycocotools import mask as coco

from data import class_names
from masks import decode, encode
from metrics import count_objects, detection_scores, judge, judge_image

#: slot functions
def predict_images(config, model, images) -> list[dict]:
    def to_picture(image):
        return Image.fromarray((255 * image).round().byte().permute(1, 2, 0).numpy())

    with mock.patch.object(predict, "read_image", to_picture):
        return predict.predict(config, model, images)


def test_boxes_are_in_pixels_of_the_image():
    """Of an image that is twice as high as the model takes it, and three times as wide."""
    found = torch.tensor([[10.0, 20.0, 30.0, 40.0, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]])
    #: slot logits
    [row] = predict.list_objects(found, Image.new("RGB", (96, 64)), 32, ["a", "b"])
    #: slot mask
    assert row == {"label": "b", "score": 0.5, "box": [30.0, 40.0, 90.0, 80.0]}


def test_objects_are_printed_and_drawn(tmp_path, capsys):
    Image.new("RGB", (40, 30)).save(tmp_path / "a.png")
    objects = [{"label": "b", "score": s, "box": [5.0, 5.0, 30.0, 20.0]} for s in (0.9, 0.2)]
    #: slot masks
    rows = [{"image": str(tmp_path / "a.png"), "objects": objects}]
    predict.write(rows, 0.5, tmp_path / "drawn", as_csv=False)
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["objects"] == objects[:1]
    picture = Image.open(tmp_path / "drawn" / "00000_a.png")
    assert picture.size == (40, 30) and picture.getpixel((5, 15)) != (0, 0, 0)

#: slot metric
batches, names = read_batches(config), class_names(config)
images = [image for batch in batches for image in batch[0]]
targets = [objects for batch in batches for objects in batch[1]]
found = torch.zeros(len(images), 100, 6)
for row, image in zip(predict_images(config, model, images), found, strict=True):
    for one, values in zip(row["objects"], image, strict=False):
        values[:] = torch.tensor([*one["box"], one["score"], names.index(one["label"])])
counts = count_objects(targets, len(names))
scores = detection_scores(judge(found, targets), counts)
for name, value in scores.items():
    assert value == pytest.approx(reported[f"test_{name}"], abs=1e-4)

#: slot five
images = list(read_batches(config)[0][0])
rows = predict_images(config, model, (5 * images)[:5])  # there may be fewer
rows = [{"scores": [one["score"] for one in row["objects"]]} for row in rows]

#: slot logits when find=masks
found = torch.cat([found, torch.ones(2, 64)], dim=1)  # masks that fill their boxes, and a pixel more

#: slot mask when find=masks
mask = decode(row.pop("mask"))
assert mask.shape == (64, 96) and mask[38:, 27:93].all() and mask.sum() == 26 * 66

#: slot masks when find=masks
for one in objects:
    one["mask"] = encode(torch.ones(30, 40))

#: slot metric when find=masks
judged = []
for row, image, objects in zip(predict_images(config, model, images), found, targets, strict=True):
    masks = [one["mask"] for one in row["objects"]]
    shares = torch.zeros(100, len(objects["labels"]), dtype=torch.float64)
    if masks and len(objects["labels"]):
        true = list(map(encode, objects["masks"]))
        values = coco.iou(masks, true, objects["crowd"].int().tolist())
        shares[: len(masks)] = torch.from_numpy(values)
    judged.append(judge_image(image, objects, shares))
for name, value in detection_scores(torch.stack(judged), counts).items():
    assert value == pytest.approx(reported[f"test_mask_{name}"], abs=1e-4)
