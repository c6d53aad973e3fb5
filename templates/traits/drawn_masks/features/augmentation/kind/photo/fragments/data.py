from torchvision import tv_tensors
from torchvision.transforms import v2

#: slot datasets
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
