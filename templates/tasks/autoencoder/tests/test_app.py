import gradio as gr
import pytest
from PIL import Image

#: slot values
Image.new("RGB", (20, 30), (200, 100, 0)).save(tmp_path / "image.png")
with pytest.raises(gr.Error, match="Choose an image first"):
    page.fn(None)
values = [str(tmp_path / "image.png")]

#: slot expected
[row] = app.predict(config, model, values)
assert shown[1] == row["error"]
assert shown[0].height > shown[0].width, "the image, and its reconstruction below"
