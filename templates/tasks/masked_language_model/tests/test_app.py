import gradio as gr
import pytest

#: slot values
with pytest.raises(gr.Error, match="there is none in 'no mask'"):
    page.fn("no mask", 2)
values = ["import [MASK]s", 2]

#: slot expected
rows = app.predict(config, model, values[:1], 2)
assert shown == [[r["mask"], r["token"], r["probability"], r["filled"]] for r in rows]
assert len(shown) == 2
