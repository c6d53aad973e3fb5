#: slot no_masks
masks = torch.zeros(3, size, size, dtype=torch.bool)

#: slot draw_mask
mask = Image.new("1", (size, size))
ImageDraw.Draw(mask).polygon(corners, fill=1)
masks[len(labels)] = torch.from_numpy(np.array(mask))

#: slot masks
"masks": masks[: len(labels)],
