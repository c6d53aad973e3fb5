from torchvision.transforms import v2

#: slot datasets
def change(image: Tensor, generator: torch.Generator) -> Tensor:
    """A random crop of an image, randomly flipped, with color jitter or grayscale, and blurred.

    Chen and others 2020, https://arxiv.org/abs/2002.05709, appendix A
    """
    size = image.shape[-1]
    colors = v2.ColorJitter(brightness=0.8, contrast=0.8, saturation=0.8, hue=0.2)
    blur = v2.GaussianBlur(size // 20 * 2 + 1, sigma=(0.1, 2.0))
    transform = v2.Compose(
        [
            v2.RandomResizedCrop(size, scale=(0.08, 1.0)),
            v2.RandomHorizontalFlip(),
            v2.RandomApply([colors], p=0.8),
            v2.RandomGrayscale(p=0.2),
            v2.RandomApply([blur], p=0.5),
        ]
    )
    with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
        torch.set_rng_state(generator.get_state())
        changed = transform(image)
        generator.set_state(torch.get_rng_state())  # the next view differs
    return changed
