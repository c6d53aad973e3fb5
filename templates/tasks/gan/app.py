from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from PIL import Image

from pictures import save_grid

#: slot row
rows = predict(config, model, list(range(*values)))
with TemporaryDirectory() as folder:
    images = torch.stack([row["image"] for row in rows])
    save_grid(images, columns=min(8, len(rows)), path=Path(folder, "images.png"))
    picture = Image.open(Path(folder, "images.png")).copy()

#: slot shown
return picture

#: slot inputs
inputs = gr.Slider(1, 64, value=16, step=1, label="number of images")

#: slot outputs
outputs = gr.Image(label="generated images")
