from masks import decode, encode, find_masks
from pictures import paint

#: slot about_masks
A mask is that of the whole image, as encode() writes it.

#: replace objects
# one mask at a time: images may be large
masks = (find_masks(one.unsqueeze(0), size, image.height, image.width)[0] for one in found)
return [
    {"label": names[label], "score": score, "box": box, "mask": encode(mask)}
    for (box, score, label), mask in zip(rows, masks, strict=True)
    if score
]

#: replace drawn
masks = [decode(one["mask"]) for one in found]
picture = paint(read_image(row["image"]), masks, labels)
picture = draw(picture, [one["box"] for one in found], labels)
