"""The page of app.py shows what predict() returns."""

import gradio as gr
import pytest
from PIL import Image

import app
from helpers import run


def test_the_page_shows_predictions(tmp_path):
    run(tmp_path, epochs=1, limit_batches=2)
    config, model = app.load(tmp_path)
    page = app.build_page(config, model)
    assert not page.analytics_enabled
    Image.new("RGB", (20, 30), (200, 100, 0)).save(tmp_path / "image.png")
    (tmp_path / "text.png").write_text("not an image")
    with pytest.raises(gr.Error, match="^.text.png can't be read as an image: [^/]*$"):
        page.fn(str(tmp_path / "text.png"))
    with pytest.raises(gr.Error, match="Choose an image first"):
        page.fn(None)
    values = [str(tmp_path / "image.png")]
    shown = page.fn(*values)
    [row] = app.predict(config, model, values)
    assert sum(shown.values()) == pytest.approx(1)
    assert max(shown, key=shown.get) == row["label"]
