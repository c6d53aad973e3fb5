from masks import decode

#: slot outlines
masks: list[dict] = field(default_factory=list)  # as COCO's run lengths

#: slot masks
"masks": scale_masks(row.masks, self.size),

#: slot build_datasets
def scale_masks(rows: list[dict], size: int) -> Tensor:
    """Masks, scaled as their image, shape (objects, size, size)."""
    masks = torch.zeros(len(rows), size, size, dtype=torch.bool)
    for mask, runs in zip(masks, rows, strict=True):
        pixels = Image.fromarray(decode(runs).numpy())
        mask[:] = torch.from_numpy(np.array(pixels.resize((size, size), Image.Resampling.NEAREST)))
    return masks
