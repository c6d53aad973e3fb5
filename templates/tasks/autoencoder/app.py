from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from predict import draw

#: slot row
if None in values:
    raise SystemExit("Choose an image first.")
[row] = predict(config, model, [*values])
with TemporaryDirectory() as folder:
    draw(config, model, [*values], Path(folder, "both.png"))
    picture = Image.open(Path(folder, "both.png")).copy()

#: slot shown
return picture, row["error"]

#: slot outputs
outputs = [gr.Image(label="the image and its reconstruction"), gr.Number(label="error")]
