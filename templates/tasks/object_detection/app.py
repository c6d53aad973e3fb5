from masks import decode
from pictures import SHOWN, draw, paint
from predict import read_image

#: slot row
if None in values:
    raise SystemExit("Choose an image first.")
[row] = predict(config, model, [*values])
found = [one for one in row["objects"] if one["score"] >= SHOWN]
labels = [f"{one['label']} {one['score']:.2f}" for one in found]
#: region drawn
picture = draw(read_image(values[0]), [one["box"] for one in found], labels)
#: end drawn

#: slot shown
return picture, found

#: slot outputs
outputs = [gr.Image(label="the image and its objects"), gr.JSON(label="objects")]

#: replace drawn when find=masks
picture = paint(read_image(values[0]), [decode(one.pop("mask")) for one in found], labels)
picture = draw(picture, [one["box"] for one in found], labels)
