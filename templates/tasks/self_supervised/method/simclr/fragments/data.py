from progress import log

#: slot datasets
def draw(image: Tensor, config, seed: int) -> Tensor:
    """Two random views of an image, shape (2, channels, size, size)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([change(image, generator) for _ in range(2)])

#: slot before_loaders
if min(len(val_set), len(test_set)) < 2:
    log("a split of one image has the loss 0: there is no other image to compare it with")
