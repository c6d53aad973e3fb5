import torch.nn.functional as F

#: slot datasets
def change(image: Tensor, generator: torch.Generator) -> Tensor:
    """An image randomly rotated, sheared, scaled, shifted, and brighter or darker."""
    numbers = 2 * torch.rand(7, generator=generator) - 1  # from -1 to 1
    linear = torch.eye(2) + 0.3 * numbers[:4].reshape(2, 2)
    shift = 0.25 * numbers[4:6].reshape(2, 1)
    matrix = torch.cat([linear, shift], dim=1).unsqueeze(0)
    places = F.affine_grid(matrix, [1, *image.shape], align_corners=False)
    changed = F.grid_sample(image.unsqueeze(0), places, align_corners=False)[0]
    return changed * (1 + 0.3 * numbers[6])
