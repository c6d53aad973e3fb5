from torchvision.transforms import v2

#: slot datasets
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
