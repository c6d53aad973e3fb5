import gradio as gr
import pytest

#: slot values
with pytest.raises(gr.Error, match="its question is not text"):
    page.fn("Kelby was born in Norgate.", " ")
values = ["Kelby was born in Norgate.", "Where was Kelby born?"]

#: slot expected
[row] = app.predict(config, model, [app.Question(*values)])
assert shown["text"] == values[0]
marked = [(mark["entity"], mark["start"], mark["end"]) for mark in shown["entities"]]
assert marked == ([("answer", row["start"], row["end"])] if row["answer"] else [])
