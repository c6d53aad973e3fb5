from masks import decode, encode
from metrics import judge_image
from pycocotools import mask as coco

#: slot logits
found = torch.cat([found, torch.ones(2, 64)], dim=1)  # masks that fill their boxes, and a pixel more

#: slot mask
mask = decode(row.pop("mask"))
assert mask.shape == (64, 96) and mask[38:, 27:93].all() and mask.sum() == 26 * 66

#: slot masks
for one in objects:
    one["mask"] = encode(torch.ones(30, 40))

#: slot metric
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
