import torch.nn.functional as F

#: slot datasets
def change(image: Tensor, generator: torch.Generator) -> Tensor:
    """An image turned, slanted, scaled and shifted by chance: a digit stays the same digit."""
    numbers = 2 * torch.rand(8, generator=generator) - 1  # from -1 to 1
    linear = torch.eye(2) + 0.3 * numbers[:4].reshape(2, 2)
    shift = 0.25 * numbers[4:6].reshape(2, 1)
    places = F.affine_grid(
        torch.cat([linear, shift], dim=1).unsqueeze(0), [1, *image.shape], align_corners=False
    )
    changed = F.grid_sample(image.unsqueeze(0), places, align_corners=False)[0]
    return changed * (1 + 0.3 * numbers[6])
