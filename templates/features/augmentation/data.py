import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import Dataset
from torchvision import tv_tensors
from torchvision.transforms import v2

from boxes import area, intersect
from lib.samples import with_transform

#: slot datasets
#: region augmentation_datasets
class Augmented(Dataset):
    """Training images with random changes, different ones in each epoch.

    The changes depend only on the seed, the epoch and the index of the image. So they are the
    same in a resumed run, with any number of data workers, and on any number of processes.
    """

    def __init__(self, data, config) -> None:
        #: region augmented_data
        self.data, self.config, self.epoch = data, config, 0
        #: end augmented_data

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int):
        seed = hash((self.config.seed, self.epoch, index))
        #: region augmented_sample
        generator = torch.Generator().manual_seed(seed)
        sample = self.data[index]
        if isinstance(sample, Tensor):  # an image without a label
            return augment(sample, self.config, generator)
        image, *others = sample
        return augment(image, self.config, generator), *others
        #: end augmented_sample
#: end augmentation_datasets

#: slot after_datasets
#: region augmentation_after_datasets
train_set = Augmented(train_set, config)
#: end augmentation_after_datasets

#: replace augmentation_datasets when project.task=object_detection|semantic_segmentation
class Augmented(Dataset):
    """Training images and targets with random changes, which differ in each epoch.

    The changes depend only on the seed, the epoch and the index of the image, so they are the
    same in a resumed run, with any number of data workers, and on any number of processes.
    """

    def __init__(self, data, config) -> None:
        #: region augmented_data
        self.data, self.config, self.epoch = data, config, 0
        #: end augmented_data

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int):
        image, target = self.data[index]
        seed = hash((self.config.seed, self.epoch, index))
        return augment(image, target, self.config, torch.Generator().manual_seed(seed))

#: replace augmentation_after_datasets when project.task=object_detection|semantic_segmentation
train_set = Augmented(train_set, config)

#: slot datasets when kind=shift
#: region shift
def augment(image, config, generator) -> Tensor:
    """The image, shape (channels, height, width), shifted by up to `augmentation_pixels`."""
    distance = config.augmentation_pixels
    down, right = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    height, width = image.shape[-2:]
    padded = F.pad(image, (distance, distance, distance, distance))
    return padded[..., down : down + height, right : right + width]
#: end shift

#: replace shift when kind=shift object_detection.find=boxes
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image and its boxes, shifted by up to `augmentation_pixels`.

    Boxes are clipped to the image, and objects outside it are left out.
    """
    distance, size = config.augmentation_pixels, image.shape[2]
    right, down = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    padded = F.pad(image, (distance, distance, distance, distance))
    moves = torch.tensor([distance - right, distance - down]).repeat(2)
    moved = {**objects, "boxes": (objects["boxes"] + moves).clamp(0, size)}
    inside = (moved["boxes"][:, :2] < moved["boxes"][:, 2:]).all(dim=1)
    moved = {name: values[inside] for name, values in moved.items()}
    return padded[:, down : down + size, right : right + size], moved

#: replace shift when kind=shift object_detection.find=masks
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, its boxes and its masks, shifted by up to `augmentation_pixels`.

    Boxes and masks are clipped to the image, and objects outside it are left out.
    """
    distance, size = config.augmentation_pixels, image.shape[2]
    right, down = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    image, masks = (
        F.pad(pixels, 4 * [distance])[:, down : down + size, right : right + size]
        for pixels in (image, objects["masks"])
    )
    moves = torch.tensor([distance - right, distance - down]).repeat(2)
    boxes = (objects["boxes"] + moves).clamp(0, size)
    return image, keep_seen({**objects, "boxes": boxes, "masks": masks})

#: slot datasets when kind=flip
#: region flip
def augment(image, config, generator) -> Tensor:
    """The image, shape (channels, height, width), mirrored left to right half of the time."""
    mirrored = torch.rand((), generator=generator) < 0.5
    return image.flip(-1) if mirrored else image
#: end flip

#: replace flip when kind=flip object_detection.find=boxes
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image and its boxes, half of the time flipped horizontally."""
    if torch.rand((), generator=generator) < 0.5:
        return image, objects
    left, top, right, bottom = objects["boxes"].unbind(dim=1)
    width = image.shape[2]
    boxes = torch.stack([width - right, top, width - left, bottom], dim=1)
    return image.flip(2), {**objects, "boxes": boxes}

#: replace flip when kind=flip object_detection.find=masks
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, its boxes and its masks, half of the time flipped horizontally."""
    if torch.rand((), generator=generator) < 0.5:
        return image, objects
    left, top, right, bottom = objects["boxes"].unbind(dim=1)
    width = image.shape[2]
    boxes = torch.stack([width - right, top, width - left, bottom], dim=1)
    return image.flip(2), {**objects, "boxes": boxes, "masks": objects["masks"].flip(2)}

#: replace keep_seen when kind=flip object_detection.find=masks

#: slot datasets when kind=shift_and_flip
#: region shift_and_flip
def augment(image, config, generator) -> Tensor:
    """The image, shape (channels, height, width), shifted, and mirrored half of the time."""
    distance = config.augmentation_pixels
    down, right = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    height, width = image.shape[-2:]
    padded = F.pad(image, (distance, distance, distance, distance))
    moved = padded[..., down : down + height, right : right + width]
    mirrored = torch.rand((), generator=generator) < 0.5
    return moved.flip(-1) if mirrored else moved
#: end shift_and_flip

#: replace shift_and_flip when kind=shift_and_flip object_detection.find=boxes
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image and its boxes, shifted, and half of the time flipped horizontally.

    Boxes are clipped to the image, and objects outside it are left out.
    """
    distance, size = config.augmentation_pixels, image.shape[2]
    right, down = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    padded = F.pad(image, (distance, distance, distance, distance))
    image = padded[:, down : down + size, right : right + size]
    moves = torch.tensor([distance - right, distance - down]).repeat(2)
    moved = {**objects, "boxes": (objects["boxes"] + moves).clamp(0, size)}
    inside = (moved["boxes"][:, :2] < moved["boxes"][:, 2:]).all(dim=1)
    moved = {name: values[inside] for name, values in moved.items()}
    if torch.rand((), generator=generator) < 0.5:
        return image, moved
    left, top, right, bottom = moved["boxes"].unbind(dim=1)
    moved["boxes"] = torch.stack([size - right, top, size - left, bottom], dim=1)
    return image.flip(2), moved

#: replace shift_and_flip when kind=shift_and_flip object_detection.find=masks
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, its boxes and its masks, shifted, and half of the time flipped horizontally.

    Boxes and masks are clipped to the image, and objects outside it are left out.
    """
    distance, size = config.augmentation_pixels, image.shape[2]
    right, down = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    image, masks = (
        F.pad(pixels, 4 * [distance])[:, down : down + size, right : right + size]
        for pixels in (image, objects["masks"])
    )
    moves = torch.tensor([distance - right, distance - down]).repeat(2)
    boxes = (objects["boxes"] + moves).clamp(0, size)
    moved = keep_seen({**objects, "boxes": boxes, "masks": masks})
    if torch.rand((), generator=generator) < 0.5:
        return image, moved
    left, top, right, bottom = moved["boxes"].unbind(dim=1)
    boxes = torch.stack([size - right, top, size - left, bottom], dim=1)
    return image.flip(2), {**moved, "boxes": boxes, "masks": moved["masks"].flip(2)}

#: slot datasets when kind=erase
#: region erase
def augment(image, config, generator) -> Tensor:
    """The image, shape (channels, height, width), half of the time with a square of zeros."""
    height, width = image.shape[-2:]
    side = min(height, width) // 2
    if torch.rand((), generator=generator) < 0.5:
        return image
    top = int(torch.randint(0, height - side + 1, (), generator=generator))
    left = int(torch.randint(0, width - side + 1, (), generator=generator))
    erased = image.clone()
    erased[..., top : top + side, left : left + side] = 0
    return erased
#: end erase

#: replace erase when kind=erase object_detection.find=boxes
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, half of the time with an erased square, and the objects that stay visible."""
    height, width = image.shape[-2:]
    side = min(height, width) // 2
    if torch.rand((), generator=generator) < 0.5:
        return image, objects
    top = int(torch.randint(0, height - side + 1, (), generator=generator))
    left = int(torch.randint(0, width - side + 1, (), generator=generator))
    erased = image.clone()
    erased[:, top : top + side, left : left + side] = 0
    square = torch.tensor([left, top, left + side, top + side])
    boxes = objects["boxes"]
    seen = area(intersect(boxes, square)) < area(boxes)
    return erased, {name: values[seen] for name, values in objects.items()}

#: replace erase when kind=erase object_detection.find=masks
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, half of the time with an erased square, and the objects that stay visible.

    Masks lose the pixels in the square. Boxes stay those of whole objects.
    """
    height, width = image.shape[-2:]
    side = min(height, width) // 2
    if torch.rand((), generator=generator) < 0.5:
        return image, objects
    top = int(torch.randint(0, height - side + 1, (), generator=generator))
    left = int(torch.randint(0, width - side + 1, (), generator=generator))
    erased, masks = image.clone(), objects["masks"].clone()
    for pixels in (erased, masks):
        pixels[:, top : top + side, left : left + side] = 0
    return erased, keep_seen({**objects, "masks": masks})

#: slot datasets when kind=photo
#: region photo
def augment(image, config, generator) -> Tensor:
    """A random crop of the image, flipped half of the time, with color jitter."""
    change = v2.Compose(
        [
            v2.RandomResizedCrop(tuple(image.shape[-2:]), scale=(0.3, 1.0)),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.3),
        ]
    )
    with torch.random.fork_rng(devices=[]):  # torchvision draws from the global generator
        torch.set_rng_state(generator.get_state())
        return change(image)
#: end photo

#: replace photo when kind=photo object_detection.find=boxes
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """A random crop of the image, flipped half of the time, with changed colors, and its boxes.

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
    sample = (tv_tensors.Image(image), {**objects, "boxes": boxes})
    with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
        torch.set_rng_state(generator.get_state())
        image, objects = change(sample)
    objects["boxes"] = objects["boxes"].as_subclass(Tensor)
    seen = (objects["boxes"][:, :2] < objects["boxes"][:, 2:]).all(dim=1)
    return image.as_subclass(Tensor), {name: values[seen] for name, values in objects.items()}

#: replace photo when kind=photo semantic_segmentation.dataset=shapes
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """A random crop of the image and its mask, flipped half of the time; changed colors.

    The mask is scaled without interpolation, so its pixels keep their classes, or VOID.
    """
    change = v2.Compose(
        [
            v2.RandomResizedCrop(tuple(mask.shape), scale=(0.3, 1.0)),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.3),
        ]
    )
    with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
        torch.set_rng_state(generator.get_state())
        image, mask = change(tv_tensors.Image(image), tv_tensors.Mask(mask))
    return image.as_subclass(Tensor), mask.as_subclass(Tensor)

#: replace augmented_data when kind=photo semantic_segmentation.dataset=folder|coco|huggingface
self.data, self.config, self.epoch = with_transform(data, keep), config, 0

#: replace photo when kind=photo semantic_segmentation.dataset=folder|coco|huggingface
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """A random crop of the picture and its mask, flipped half of the time; changed colors.

    The mask is scaled without interpolation, so its pixels keep their classes, or VOID.
    """
    change = v2.Compose(
        [
            v2.RandomResizedCrop(config.image_size, scale=(0.3, 1.0)),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.3),
        ]
    )
    with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
        torch.set_rng_state(generator.get_state())
        image, mask = change(image, tv_tensors.Mask(np.array(mask, np.uint8)))
    return to_tensor(image, config.image_size), mask.as_subclass(Tensor).long()


def keep(image: Image.Image, mask: Image.Image) -> tuple[Image.Image, Image.Image]:
    """The pictures as on disk: their crops have more detail than crops of resized pictures."""
    return image, mask

#: replace photo when kind=photo object_detection.find=masks
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

#: slot datasets when kind=randaugment
#: region randaugment
def augment(image, config, generator) -> Tensor:
    """A random crop of the image, flipped half of the time, with RandAugment."""
    change = v2.Compose(
        [
            v2.RandomResizedCrop(tuple(image.shape[-2:]), scale=(0.3, 1.0)),
            v2.RandomHorizontalFlip(),
            v2.RandAugment(),
        ]
    )
    with torch.random.fork_rng(devices=[]):  # torchvision draws from the global generator
        torch.set_rng_state(generator.get_state())
        return change(image)
#: end randaugment

#: slot datasets when kind=trivialaugment
#: region trivialaugment
def augment(image, config, generator) -> Tensor:
    """A random crop of the image, flipped half of the time, with one change of TrivialAugment."""
    change = v2.Compose(
        [
            v2.RandomResizedCrop(tuple(image.shape[-2:]), scale=(0.3, 1.0)),
            v2.RandomHorizontalFlip(),
            v2.TrivialAugmentWide(),
        ]
    )
    with torch.random.fork_rng(devices=[]):  # torchvision draws from the global generator
        torch.set_rng_state(generator.get_state())
        return change(image)
#: end trivialaugment

#: replace randaugment when kind=randaugment object_detection.find=boxes
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """A random crop of the image, flipped half of the time, changed by RandAugment, and its boxes.

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
    sample = (tv_tensors.Image(image), {**objects, "boxes": boxes})
    with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
        torch.set_rng_state(generator.get_state())
        image, objects = change(sample)
    objects["boxes"] = objects["boxes"].as_subclass(Tensor)
    seen = (objects["boxes"][:, :2] < objects["boxes"][:, 2:]).all(dim=1)
    return image.as_subclass(Tensor), {name: values[seen] for name, values in objects.items()}

#: replace randaugment when kind=randaugment object_detection.find=masks
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

