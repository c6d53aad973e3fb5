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
assert shown[0].size == (20, 30) and sum(shown[1].values()) == pytest.approx(1)
assert all(row[name] == share for name, share in shown[1].items())
