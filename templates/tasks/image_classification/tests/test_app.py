import gradio as gr
import pytest
from PIL import Image

from data import class_names

#: slot values
Image.new("RGB", (20, 30), (200, 100, 0)).save(tmp_path / "image.png")
(tmp_path / "text.png").write_text("not an image")
with pytest.raises(gr.Error, match="^.text.png can't be read as an image: [^/]*$"):
    page.fn(str(tmp_path / "text.png"))
with pytest.raises(gr.Error, match="Choose an image first"):
    page.fn(None)
values = [str(tmp_path / "image.png")]

#: slot expected
[row] = app.predict(config, model, values)
#: region expected
assert sum(shown.values()) == pytest.approx(1)
assert max(shown, key=shown.get) == row["label"]
#: end expected

#: replace expected when labels=many
assert shown == pytest.approx({name: row[f"p_{name}"] for name in class_names(config)})

#: replace expected when labels=number
assert shown == pytest.approx(row["prediction"])
