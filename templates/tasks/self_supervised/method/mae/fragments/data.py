#: slot datasets
def draw(image: Tensor, config, seed: int) -> Tensor:
    """The numbers of the patches that the model sees of an image, shape (seen,), by chance."""
    patches = (image.shape[-1] // config.patch_size) ** 2
    order = torch.randperm(patches, generator=torch.Generator().manual_seed(seed))
    seen = round((1 - config.mask_ratio) * patches)
    return order[: min(max(1, seen), patches - 1)]  # some, but not all
