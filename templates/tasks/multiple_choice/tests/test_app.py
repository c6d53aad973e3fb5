import gradio as gr
import pytest

from data import Question

#: slot values
with pytest.raises(gr.Error, match="it needs two choices or more"):
    page.fn("a text", "one")
values = ["Ann picks up the axe.", "Ann splits the logs.\n\nAnn bakes a cake."]

#: slot expected
choices = ("Ann splits the logs.", "Ann bakes a cake.")
[row] = app.predict(config, model, [Question(values[0], choices)])
assert list(shown) == list(choices)
assert list(shown.values()) == row["probabilities"]
