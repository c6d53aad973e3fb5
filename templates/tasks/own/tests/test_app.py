from math import isfinite

import gradio as gr
import pytest

#: slot values
with pytest.raises(gr.Error, match="use four numbers"):
    page.fn("1, 2")
values = ["1, 2, 3, 4"]

#: slot expected
assert isfinite(shown)
