import gradio as gr
import pytest

#: slot values
with pytest.raises(gr.Error, match="some texts to search"):
    page.fn("a text", " \n")
values = ["The doctor bought the car.", "It rained.\n\nThe doctor bought the car."]

#: slot expected
[best, other] = shown
assert best == ["The doctor bought the car.", pytest.approx(1, abs=1e-5)]
assert other[0] == "It rained." and other[1] < best[1]
