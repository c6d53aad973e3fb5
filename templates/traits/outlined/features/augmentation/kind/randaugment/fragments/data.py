from torchvision import tv_tensors
from torchvision.transforms import v2

#: slot datasets
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """A random crop of the image, flipped half of the time, with RandAugment, and its objects.

    Boxes can't follow rotations and shears, so only color changes are used. Objects whose center is
    outside the crop are left out: Liu and others 2016, "SSD: Single Shot MultiBox
    Detector", https://arxiv.org/abs/1512.02325
    """
    size = tuple(image.shape[-2:])
    colors = [
        v2.ColorJitter(brightness=0.9),
        v2.ColorJitter(contrast=0.9),
        v2.ColorJitter(saturation=0.9),
        v2.RandomAdjustSharpness(1.9, p=1.0),
        v2.RandomPosterize(4, p=1.0),
        v2.RandomSolarize(0.5, p=1.0),
        v2.RandomAutocontrast(p=1.0),
        v2.RandomEqualize(p=1.0),
    ]
    change = v2.Compose(
        [
            v2.RandomChoice(colors),
            v2.RandomChoice(colors),
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
