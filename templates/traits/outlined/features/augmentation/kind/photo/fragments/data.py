from torchvision import tv_tensors
from torchvision.transforms import v2

#: slot datasets
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """A random crop of the image, flipped half of the time, with changed colors, and its objects.

    Objects whose center is outside the crop are left out: Liu and others 2016, "SSD: Single Shot
    MultiBox Detector", https://arxiv.org/abs/1512.02325
    """
    size = tuple(image.shape[-2:])
    change = v2.Compose(
        [
            v2.RandomPhotometricDistort(),
            v2.RandomIoUCrop(),
            v2.Resize(size),
            v2.RandomHorizontalFlip(),
        ]
    )
    boxes = tv_tensors.BoundingBoxes(objects["boxes"], format="XYXY", canvas_size=size)
    masks = tv_tensors.Mask(objects["masks"])
    sample = (tv_tensors.Image(image), {**objects, "boxes": boxes, "masks": masks})
    with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
        torch.set_rng_state(generator.get_state())
        image, objects = change(sample)
    objects["boxes"] = objects["boxes"].as_subclass(Tensor)
    objects["masks"] = objects["masks"].as_subclass(Tensor)
    return image.as_subclass(Tensor), keep_seen(objects)
