#: slot outline
[shape] = read_values(row, ["segmentation"], place)
image.masks.append(read_mask(shape, image, f"{place}, segmentation"))
