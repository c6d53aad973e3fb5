import gradio as gr
import pytest

#: slot values without image_texts
with pytest.raises(gr.Error, match="some texts to search"):
    page.fn("a text", " \n")
values = ["The doctor bought the car.", "It rained.\n\nThe doctor bought the car."]

#: slot expected without image_texts
[best, other] = shown
assert best == ["The doctor bought the car.", pytest.approx(1, abs=1e-5)]
assert other[0] == "It rained." and other[1] < best[1]

#: slot values with image_texts
with pytest.raises(gr.Error, match="an image or a text"):
    page.fn(None, "a text", " \n")
values = [None, "a handwritten seven", "It rained.\n\na handwritten seven"]

#: slot expected with image_texts
[best, other] = shown
assert best == ["a handwritten seven", pytest.approx(1, abs=1e-5)]
assert other[0] == "It rained." and other[1] < best[1]
