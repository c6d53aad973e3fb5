from torch import Tensor
import torch
from PIL import Image
from boxes import find_objects
from data import class_names, to_tensor
from torch.utils.data import DataLoader

#: slot functions
def list_objects(found: Tensor, image: Image.Image, size: int, names: list[str]) -> list[dict]:
    """What find_objects() found in an image that was scaled to `size` pixels, with a score above 0.

    A box has left, top, right and bottom in pixels of the image, and may extend beyond its edges.
    #: slot about_masks
    """
    boxes = found[:, :4].double() * torch.tensor(2 * image.size) / size
    rows = zip(boxes.tolist(), found[:, 4].tolist(), found[:, 5].int().tolist(), strict=True)
    #: region objects
    return [
        {"label": names[label], "score": score, "box": box} for box, score, label in rows if score
    ]
    #: end objects

#: slot before_batches
names = class_names(config)

#: slot batches
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = [read_image(path) for path in paths]
    scaled = torch.stack([to_tensor(image, config.image_size) for image in images])
    for image, found in zip(images, find_objects(model(scaled.to(device))).cpu(), strict=True):
        rows.append({"objects": list_objects(found, image, config.image_size, names)})
