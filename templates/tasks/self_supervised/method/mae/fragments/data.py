#: slot datasets
def draw(image: Tensor, config, seed: int) -> Tensor:
    """Random indices of the patches of an image that the model sees, shape (seen,)."""
    patches = (image.shape[-1] // config.patch_size) ** 2
    order = torch.randperm(patches, generator=torch.Generator().manual_seed(seed))
    seen = round((1 - config.mask_ratio) * patches)
    return order[: min(max(1, seen), patches - 1)]  # some, but not all
