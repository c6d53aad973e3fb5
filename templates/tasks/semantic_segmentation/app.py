import numpy as np
import torch
from PIL import Image

from pictures import paint
from predict import read_image

#: slot row
if None in values:
    raise SystemExit("Choose an image first.")
[row] = predict(config, model, [*values])
image = read_image(values[0])
pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255
painted = paint(pixels[None], row["mask"][None].long())[0]
picture = Image.fromarray((255 * painted).byte().permute(1, 2, 0).numpy())

#: slot shown
return picture, {name: share for name, share in row.items() if name.startswith("class_")}

#: slot outputs
outputs = [gr.Image(label="the image and its mask"), gr.Label(label="share of each class")]
