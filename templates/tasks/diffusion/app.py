from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from PIL import Image

from pictures import save_grid

#: slot row
#: region rows
rows = predict(config, model, list(range(*values)))
#: end rows
with TemporaryDirectory() as folder:
    images = torch.stack([row["image"] for row in rows])
    save_grid(images, columns=len(rows), path=Path(folder, "images.png"))
    picture = Image.open(Path(folder, "images.png")).copy()

#: slot shown
return picture

#: slot inputs
#: region inputs
inputs = gr.Slider(1, 8, value=8, step=1, label="number of images")
#: end inputs

#: slot outputs
outputs = gr.Image(label="generated images")

#: replace rows when condition=classes
count, label = values
rows = predict(config, model, [(number, label) for number in range(count)])

#: replace inputs when condition=classes
inputs = [
    gr.Slider(1, 8, value=8, step=1, label="number of images"),
    #: region class
    gr.Slider(0, 10 - 1, step=1, label="class"),
    #: end class
]

#: replace class when condition=classes dataset=image_folder
gr.Slider(0, config.classes - 1, step=1, label="class"),
