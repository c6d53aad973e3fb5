#: slot datasets
def draw(image: Tensor, config, seed: int) -> Tensor:
    """Two random views of an image, shape (2, channels, size, size)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([change(image, generator) for _ in range(2)])
