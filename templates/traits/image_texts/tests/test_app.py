import gradio as gr
import pytest

#: slot values
with pytest.raises(gr.Error, match="an image or a text"):
    page.fn(None, "a text", " \n")
values = [None, "a handwritten seven", "It rained.\n\na handwritten seven"]

#: slot expected
[best, other] = shown
assert best == ["a handwritten seven", pytest.approx(1, abs=1e-5)]
assert other[0] == "It rained." and other[1] < best[1]
