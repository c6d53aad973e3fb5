from masks import decode
from pictures import paint

#: replace drawn
picture = paint(read_image(values[0]), [decode(one.pop("mask")) for one in found], labels)
picture = draw(picture, [one["box"] for one in found], labels)
